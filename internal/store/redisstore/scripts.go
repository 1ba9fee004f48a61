package redisstore

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// Fills follow the leases of Facebook's memcache (Nishtala et al., Scaling Memcache at Facebook,
// NSDI 2013, section 3.2.1). Whoever is going to read rows leaves a ticket first where there is no
// value, and his values are taken only where his ticket still lies, or over an older value. So what
// was read before Redis was emptied, or before somebody wrote the row, never comes back.
//
// A ticket is 11 bytes: the second in which it was drawn, big endian, and 7 random ones. That is
// shorter than the head of any value, which is how the two are told apart.

// luaNewer is shared by the scripts that follow. It says whether a value takes the place of what is
// there, and if not, whether that should go. A higher version under an earlier epoch was written by a
// process that has not heard of the later epoch yet; then nobody can tell which of the two knows more,
// and neither stays. Prefixes are compared byte by byte: Lua's own comparison of strings depends on the
// server's locale.
const luaNewer = `
local function compare(value, old, first, last)
  for i = first, last do
    local v, o = value:byte(i), old:byte(i)
    if v ~= o then return v > o and 1 or -1 end
  end
  return 0
end
local function newer(value, old, ticket)
  if #old < 12 then return old == ticket, false end
  local epoch, version = compare(value, old, 1, 4), compare(value, old, 5, 12)
  if epoch == 0 then return version > 0, false end
  return epoch > 0 and version >= 0, epoch ~= version and version ~= 0
end
`

// luaFree is shared by the scripts that leave tickets. A ticket that was left by another is
// respected for 3 seconds, by the clocks of those who draw them, unless over is '1'.
const luaFree = `
local function drawn(ticket)
  local a, b, c, d = ticket:byte(1, 4)
  return ((a * 256 + b) * 256 + c) * 256 + d
end
local function free(old, ticket, over)
  if #old == 0 then return true end
  return #old < 12 and (over == '1' or drawn(ticket) > drawn(old) + 3)
end
`

// luaReserveString leaves a ticket in each string that holds no value. In Cluster it is called with
// one key.
//
//	KEYS[i]  a string
//	ARGV[1]  the ticket
//	ARGV[2]  '1' to replace the tickets of others
//	ARGV[3]  the time to live of a ticket in seconds
//
// Result: how many tickets were left.
const luaReserveString = luaFree + `
local left = 0
for _, key in ipairs(KEYS) do
  if free(redis.call('GETRANGE', key, 0, 11), ARGV[1], ARGV[2]) then
    redis.call('SET', key, ARGV[1], 'EX', ARGV[3])
    left = left + 1
  end
end
return left
`

// luaReserveField leaves a ticket in a field of each hash, where it holds no value. A hash that is
// made by it lives as long as a ticket. In Cluster it is called with one key.
//
//	KEYS[i]    a hash; one may be named several times
//	ARGV[1]    the ticket
//	ARGV[2]    '1' to replace the tickets of others
//	ARGV[3]    the time to live of a ticket in seconds
//	ARGV[i+3]  the field of KEYS[i]
//
// Result: how many tickets were left.
const luaReserveField = luaFree + `
local left = 0
for i, key in ipairs(KEYS) do
  local field = ARGV[i + 3]
  if free(redis.call('HGET', key, field) or '', ARGV[1], ARGV[2]) then
    local fresh = redis.call('EXISTS', key) == 0
    redis.call('HSET', key, field, ARGV[1])
    if fresh then redis.call('EXPIRE', key, ARGV[3]) end
    left = left + 1
  end
end
return left
`

// luaPutString sets strings that hold the ticket or an older value, and removes what contradicts. In
// Cluster it is called with one key.
//
//	KEYS[i]    a string
//	ARGV[1]    the ticket
//	ARGV[2]    the time to live in seconds, renewed where a value is set
//	ARGV[i+2]  the value for KEYS[i]; its first 12 bytes are epoch and version
//
// Result: how many were set.
const luaPutString = luaNewer + `
local set = 0
for i, key in ipairs(KEYS) do
  local take, drop = newer(ARGV[i + 2], redis.call('GETRANGE', key, 0, 11), ARGV[1])
  if take then
    redis.call('SET', key, ARGV[i + 2], 'EX', ARGV[2])
    set = set + 1
  elseif drop then
    redis.call('DEL', key)
  end
end
return set
`

// luaPutField sets a field of each hash, where it holds the ticket or an older value, and removes what
// contradicts. In Cluster it is called with one key.
//
//	KEYS[i]     a hash; one may be named several times
//	ARGV[1]     the ticket
//	ARGV[2]     the time to live of a hash in seconds, renewed where a field is set
//	ARGV[2i+1]  the value for KEYS[i]; its first 12 bytes are epoch and version
//	ARGV[2i+2]  the field of KEYS[i]
//
// Result: how many were set.
const luaPutField = luaNewer + `
local set = 0
for i, key in ipairs(KEYS) do
  local value, field = ARGV[2 * i + 1], ARGV[2 * i + 2]
  local take, drop = newer(value, redis.call('HGET', key, field) or '', ARGV[1])
  if take then
    redis.call('HSET', key, field, value)
    redis.call('EXPIRE', key, ARGV[2])
    set = set + 1
  elseif drop then
    redis.call('HDEL', key, field)
  end
end
return set
`

// scripts are the scripts in the form that the servers take.
type scripts struct {
	reserveString, reserveField, putString, putField *redis.Script
	appendLog, readLog                               *redis.Script
	push, pushHome, merge, remove                    *redis.Script
	begin, finish, resume, grow, move, renew         *redis.Script
	raiseFence                                       *redis.Script
	pull, in, listen, listeners                      *redis.Script
	page, scores, home                               *redis.Script // these only read
}

func newScripts(plain bool) scripts {
	writing := func(source string) *redis.Script {
		if plain {
			return redis.NewScript(source)
		}
		return redis.NewScript("#!lua" + source)
	}
	reading := func(source string) *redis.Script {
		if plain {
			return redis.NewScript(source)
		}
		return redis.NewScript("#!lua flags=no-writes" + source)
	}
	// asking is for what only reads and must be known by a primary: what follows another refuses it as if
	// it wrote, while one that is full does not.
	asking := func(source string) *redis.Script {
		if plain {
			return redis.NewScript(source)
		}
		return redis.NewScript("#!lua flags=allow-oom" + source)
	}
	return scripts{
		reserveString: writing(luaReserveString),
		reserveField:  writing(luaReserveField),
		putString:     writing(luaPutString),
		putField:      writing(luaPutField),
		appendLog:     writing(luaAppendLog),
		readLog:       writing(luaReadLog),
		push:          writing(luaPush),
		pushHome:      writing(luaPushHome),
		merge:         writing(luaMerge),
		remove:        writing(luaRemove),
		begin:         writing(luaBegin),
		finish:        writing(luaFinish),
		resume:        writing(luaResume),
		grow:          writing(luaGrow),
		move:          writing(luaMove),
		renew:         writing(luaRenew),
		raiseFence:    writing(luaRaiseFence),
		pull:          writing(luaPull),
		in:            asking(luaIn),
		listen:        writing(luaListen),
		listeners:     asking(luaListeners),
		home:          reading(luaHome),
		page:          reading(luaPage),
		scores:        reading(luaScores),
	}
}

// keysPerCall bounds how long one call holds up the others: some 0.2 ms.
const keysPerCall = 100

// call is one run of a script.
type call struct {
	script *redis.Script
	keys   []string
	args   []any
	reply  any // what the script has returned
}

// run runs all calls in one trip. When a node does not have a script (it is new, was restarted or
// has taken over a slot), the scripts are loaded everywhere and the calls it refused run again.
func (s *server) run(ctx context.Context, calls []call) error {
	refused, err := tryRun(ctx, s.client, pointers(calls), (*redis.Script).EvalSha)
	if len(refused) == 0 {
		return err
	}
	if err := s.load(ctx, refused); err != nil {
		return err
	}
	return errors.Join(err, rerun(ctx, s.client, refused, (*redis.Script).EvalSha))
}

// eval is run that gives the replies in order, nil for a call that failed.
func (s *server) eval(ctx context.Context, calls []call) ([]any, error) {
	err := s.run(ctx, calls)
	replies := make([]any, len(calls))
	for i, c := range calls {
		replies[i] = c.reply
	}
	return replies, err
}

// ask runs calls that only read in one trip, on replicas where reads go there. What a node refuses
// for want of the script is sent again with the script's text, since replicas are not loaded.
func (s *server) ask(ctx context.Context, calls []*call) error {
	refused, err := tryRun(ctx, s.client, calls, (*redis.Script).EvalShaRO)
	if len(refused) == 0 {
		return err
	}
	return errors.Join(err, rerun(ctx, s.client, refused, (*redis.Script).EvalRO))
}

// rerun runs calls that were refused.
func rerun(ctx context.Context, client redis.UniversalClient, refused []*call, way evaluate) error {
	still, err := tryRun(ctx, client, refused, way)
	if err == nil && len(still) > 0 {
		return errors.New("scripts that were just loaded are gone")
	}
	return err
}

func pointers(calls []call) []*call {
	pointers := make([]*call, len(calls))
	for i := range calls {
		pointers[i] = &calls[i]
	}
	return pointers
}

// evaluate is one of the ways to run a script.
type evaluate func(s *redis.Script, ctx context.Context, c redis.Scripter, keys []string, args ...any) *redis.Cmd

// tryRun tells which calls were refused for want of the script, and the first other error.
func tryRun(ctx context.Context, client redis.UniversalClient, calls []*call, way evaluate) (refused []*call, err error) {
	pipe := client.Pipeline()
	for _, c := range calls {
		way(c.script, ctx, pipe, c.keys, c.args...)
	}
	results, failed := pipe.Exec(ctx)
	for i, result := range results {
		switch fault := result.Err(); {
		case redis.HasErrorPrefix(fault, "NOSCRIPT"):
			refused = append(refused, calls[i])
		case fault != nil && !errors.Is(fault, redis.Nil):
			if err == nil {
				err = fault
			}
		default:
			calls[i].reply = result.(*redis.Cmd).Val()
		}
	}
	if err == nil && len(refused) == 0 && !errors.Is(failed, redis.Nil) {
		err = failed
	}
	return refused, err
}

// load gives every node that takes writes the scripts of the calls.
func (s *server) load(ctx context.Context, calls []*call) error {
	wanted := make(map[*redis.Script]bool)
	for _, c := range calls {
		wanted[c.script] = true
	}
	return s.each(ctx, func(ctx context.Context, node *redis.Client) error {
		var errs []error
		for script := range wanted {
			errs = append(errs, script.Load(ctx, node).Err())
		}
		return errors.Join(errs...)
	})
}

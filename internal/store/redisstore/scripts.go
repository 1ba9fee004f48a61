package redisstore

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// luaNewer is shared by the scripts that follow. Prefixes are compared byte by byte: Lua's own
// comparison of strings depends on the server's locale.
const luaNewer = `
local function newer(value, old)
  if #old < 12 then return true end
  for i = 1, 12 do
    local v, o = value:byte(i), old:byte(i)
    if v ~= o then return v > o end
  end
  return false
end
`

// luaPutString sets strings, except those that hold a value of the same or a later epoch and
// version. In Cluster it is called with one key.
//
//	KEYS[i]    a string
//	ARGV[1]    the time to live in seconds, renewed where a value is set
//	ARGV[i+1]  the value for KEYS[i]; its first 12 bytes are epoch and version
//
// Result: how many were set.
const luaPutString = luaNewer + `
local set = 0
for i, key in ipairs(KEYS) do
  if newer(ARGV[i + 1], redis.call('GETRANGE', key, 0, 11)) then
    redis.call('SET', key, ARGV[i + 1], 'EX', ARGV[1])
    set = set + 1
  end
end
return set
`

// luaPutField sets a field of each hash, except those that hold a value of the same or a later
// epoch and version. In Cluster it is called with one key.
//
//	KEYS[i]     a hash; one may be named several times
//	ARGV[1]     the time to live of a hash in seconds, renewed where a field is set
//	ARGV[2i]    the value for KEYS[i]; its first 12 bytes are epoch and version
//	ARGV[2i+1]  the field of KEYS[i]
//
// Result: how many were set.
const luaPutField = luaNewer + `
local set = 0
for i, key in ipairs(KEYS) do
  local value, field = ARGV[2 * i], ARGV[2 * i + 1]
  if newer(value, redis.call('HGET', key, field) or '') then
    redis.call('HSET', key, field, value)
    redis.call('EXPIRE', key, ARGV[1])
    set = set + 1
  end
end
return set
`

// scripts are the scripts in the form that the servers take.
type scripts struct {
	putString, putField *redis.Script
}

func newScripts(plain bool) scripts {
	first := "#!lua"
	if plain {
		first = ""
	}
	return scripts{
		putString: redis.NewScript(first + luaPutString),
		putField:  redis.NewScript(first + luaPutField),
	}
}

// keysPerCall bounds how long one call holds up the others: some 0.2 ms.
const keysPerCall = 100

// call is one run of a script.
type call struct {
	script *redis.Script
	keys   []string
	args   []any
}

// run runs all calls in one trip. When a node does not have a script (it is new, was restarted or
// has taken over a slot), the scripts are loaded everywhere and the calls it refused run again.
func (s *server) run(ctx context.Context, calls []call) error {
	refused, err := s.tryRun(ctx, calls)
	if len(refused) == 0 {
		return err
	}
	if err := s.load(ctx, refused); err != nil {
		return err
	}
	if _, again := s.tryRun(ctx, refused); again != nil {
		return again
	}
	return err
}

// tryRun tells which calls were refused for want of the script, and the first other error.
func (s *server) tryRun(ctx context.Context, calls []call) (refused []call, err error) {
	pipe := s.client.Pipeline()
	for _, c := range calls {
		pipe.EvalSha(ctx, c.script.Hash(), c.keys, c.args...)
	}
	results, failed := pipe.Exec(ctx)
	for i, result := range results {
		switch fault := result.Err(); {
		case redis.HasErrorPrefix(fault, "NOSCRIPT"):
			refused = append(refused, calls[i])
		case fault != nil && err == nil:
			err = fault
		}
	}
	if err == nil && len(refused) == 0 {
		err = failed
	}
	return refused, err
}

// load gives every node that takes writes the scripts of the calls.
func (s *server) load(ctx context.Context, calls []call) error {
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

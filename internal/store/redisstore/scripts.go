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

// luaPutString sets a string unless it holds a value of the same or a later epoch and version.
//
//	KEYS[1]  the string
//	ARGV[1]  the value; its first 12 bytes are epoch and version
//	ARGV[2]  the time to live in seconds, renewed when the value is set
//
// Result: 1 if the value was set, else 0.
const luaPutString = luaNewer + `
if not newer(ARGV[1], redis.call('GETRANGE', KEYS[1], 0, 11)) then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
return 1
`

// luaPutField sets a field of a hash unless it holds a value of the same or a later epoch and
// version.
//
//	KEYS[1]  the hash
//	ARGV[1]  the value; its first 12 bytes are epoch and version
//	ARGV[2]  the time to live of the whole hash in seconds, renewed when the field is set
//	ARGV[3]  the field
//
// Result: 1 if the field was set, else 0.
const luaPutField = luaNewer + `
if not newer(ARGV[1], redis.call('HGET', KEYS[1], ARGV[3]) or '') then return 0 end
redis.call('HSET', KEYS[1], ARGV[3], ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1
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

// call is one run of a script on one key.
type call struct {
	script *redis.Script
	key    string
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
		pipe.EvalSha(ctx, c.script.Hash(), []string{c.key}, c.args...)
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

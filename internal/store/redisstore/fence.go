package redisstore

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"circle/internal/social"
)

// luaRaiseFence raises the fences of one key to a time where they say no less than was noted and belong
// to the history that was noted; the others stay as they are.
//
//	KEYS[1]    a hash of fences
//	ARGV[1]    the time in unix milliseconds; fences that say more keep that
//	ARGV[2]    '1' on servers that have a history: the run of the server together with what it replicates
//	ARGV[3i]   the field of a fence
//	ARGV[3i+1] the time that was noted, 0 if none was
//	ARGV[3i+2] the history that was noted
//
// Result: the server's history, then for each field what stood there, '0' if nothing did. Where the user
// may not ask for INFO, the history is the empty string.
const luaRaiseFence = `
local server = ''
if ARGV[2] == '1' then
  local info = redis.pcall('INFO', 'server', 'replication')
  if type(info) == 'string' then
    server = (info:match('run_id:(%x+)') or '') .. (info:match('master_replid:(%x+)') or '')
  end
end
local result = {server}
for i = 3, #ARGV, 3 do
  local found = redis.call('HGET', KEYS[1], ARGV[i]) or '0'
  local least, raised = tonumber(ARGV[i + 1]), tonumber(ARGV[1])
  if tonumber(found) >= least and server == ARGV[i + 2] and raised > tonumber(found) then
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[1])
  end
  result[#result + 1] = found
end
return result
`

// RaiseFences raises the fences of all roles to at (unix milliseconds) where they say no less than was
// noted, on servers whose history is the noted one. It tells what the fences said before, with the
// present histories of their servers. Fences of servers that don't answer are absent, and the error says
// why. With at 0 it only looks. It takes one trip a deployment, three when a server lacks the script.
func (s *Store) RaiseFences(ctx context.Context, noted map[social.FenceKey]social.Fence, at int64) (map[social.FenceKey]social.Fence, error) {
	found := make(map[social.FenceKey]social.Fence)
	var failed error
	for _, server := range s.distinct() {
		var roles []Role
		for _, role := range Roles() {
			if s.servers[role] == server {
				roles = append(roles, role)
			}
		}
		calls := s.raises(server, roles, noted, at)
		results, err := server.eval(ctx, calls)
		if err != nil {
			failed = away("raise fences", err)
		}
		for number, result := range results {
			if result == nil {
				continue
			}
			if err := readFences(found, roles, number, result); err != nil {
				failed = err
			}
		}
	}
	return found, failed
}

// raises makes a call for each fence number of a deployment: one on a single server, fenceCount where
// keys are spread.
func (s *Store) raises(server *server, roles []Role, noted map[social.FenceKey]social.Fence, at int64) []call {
	numbers := fenceNumbers
	if server.single {
		numbers = fenceNumbers[:1]
	}
	history := "1"
	if s.plain {
		history = "0"
	}
	calls := make([]call, len(numbers))
	for i, number := range numbers {
		c := call{script: s.scripts.raiseFence, keys: []string{fenceKeys.key(number)}, args: []any{strconv.FormatInt(at, 10), history}}
		for _, role := range roles {
			n := noted[social.FenceKey{Role: string(role), Number: i}]
			c.args = append(c.args, string(role), strconv.FormatInt(n.At, 10), n.Server)
		}
		calls[i] = c
	}
	return calls
}

// readFences adds what the script answered for one fence number.
func readFences(found map[social.FenceKey]social.Fence, roles []Role, number int, result any) error {
	parts, _ := result.([]any)
	if len(parts) != len(roles)+1 {
		return fmt.Errorf("raise fences: %d parts in the answer, not %d", len(parts), len(roles)+1)
	}
	history, _ := parts[0].(string)
	for i, role := range roles {
		text, _ := parts[i+1].(string)
		at, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return fmt.Errorf("raise fences: %w", err)
		}
		found[social.FenceKey{Role: string(role), Number: number}] = social.Fence{At: at, Server: history}
	}
	return nil
}

// fenceCount is how many fences a role has where keys are spread over nodes: enough for each of some
// twenty primaries to hold one.
const fenceCount = 64

// fenceNumbers are the numbers of the fences' keys, one in each of fenceCount equal stretches of the
// slots of Redis Cluster, in their order.
var fenceNumbers = func() []int64 {
	const slots = 16384
	numbers := slices.Repeat([]int64{-1}, fenceCount)
	for n, left := int64(0), fenceCount; left > 0; n++ {
		stretch := slotOf(strconv.FormatInt(n, 10)) / (slots / fenceCount)
		if numbers[stretch] < 0 {
			numbers[stretch] = n
			left--
		}
	}
	return numbers
}()

// slotOf is Redis Cluster's slot of a hash tag: CRC16 (XMODEM) of it, less all but 14 bits.
func slotOf(tag string) int {
	crc := uint16(0)
	for _, b := range []byte(tag) {
		crc ^= uint16(b) << 8
		for range 8 {
			carry := crc & 0x8000
			crc <<= 1
			if carry != 0 {
				crc ^= 0x1021
			}
		}
	}
	return int(crc & 16383)
}

package redisstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"circle/internal/social"
)

// A live log is a sorted set of events by the log's own sequence. Its first member is the mark: an
// exclamation mark, the epoch of all logs as 8 and the log's own epoch as 16 hexadecimal digits. The mark's score
// is the last sequence, negated, so that it stays in front. No log without a mark, and no mark without
// somebody who listens, or did less than homeLogKeys.ttl ago.
const (
	// logLength is how many entries a log keeps.
	logLength = 256
	// epochDigits is the length of an epoch of a log.
	epochDigits = 16
)

// luaAppend is shared by the scripts that write into logs. An entry that is there is not added again.
// The result says whether somebody listens.
const luaAppend = `
local function append(log, entry, most)
  local mark = redis.call('ZRANGE', log, 0, 0, 'WITHSCORES')
  if mark[1] == nil then return false end
  if not redis.call('ZSCORE', log, entry) then
    local seq = string.format('%.0f', 1 - tonumber(mark[2]))
    redis.call('ZADD', log, seq, entry, '-' .. seq, mark[1])
    local over = redis.call('ZCARD', log) - 1 - tonumber(most)
    if over > 0 then redis.call('ZREMRANGEBYRANK', log, 1, over) end
    redis.call('PUBLISH', log, '')
  end
  return true
end
`

// luaAppendLog appends an entry to the logs that have a mark and publishes a notice for each. In
// Cluster it is called with one key.
//
//	KEYS[i]  a log
//	ARGV[1]  the entry
//	ARGV[2]  how many entries a log keeps
//	ARGV[3]  the interval of which there is to be one entry, in milliseconds; 0 for none
//
// Result: which i have a mark.
const luaAppendLog = luaAppend + `
local listening = {}
local entry = ARGV[1]
if ARGV[3] ~= '0' then
  local now = redis.call('TIME')
  entry = entry .. string.format('%.0f', math.floor((now[1] * 1000 + now[2] / 1000) / ARGV[3]))
end
for i, log in ipairs(KEYS) do
  if append(log, entry, ARGV[2]) then listening[#listening + 1] = i end
end
return listening
`

// luaReadLog reads logs. A log is begun when it is missing or of an earlier epoch of all logs; a later one
// is what another process knows already. In Cluster it is called with one key.
//
//	KEYS[i]     a log
//	ARGV[1]     the epoch of all logs, 8 hexadecimal digits
//	ARGV[2]     the time to live in seconds, renewed when a tenth of it is over
//	ARGV[4i-1]  look: neither begin nor renew it; keep: do; anew: begin it in any case
//	ARGV[4i]    the log's epoch that is asked for
//	ARGV[4i+1]  the sequence behind which is read
//	ARGV[4i+2]  the epoch of a log that is begun
//
// Result: for each log its epoch, its last sequence and, where it holds all that follows the place
// asked for, its entries from there on. Of logs that are only looked at, nothing where one is to be begun,
// and one value where one is to be renewed.
const luaReadLog = `
local function read(log, way, epoch, after, fresh)
  local mark = redis.call('ZRANGE', log, 0, 0, 'WITHSCORES')
  local missing = mark[1] == nil or tonumber(mark[1]:sub(2, 9), 16) < tonumber(ARGV[1], 16)
  if missing and way == 'look' then return {} end
  if missing or way == 'anew' then
    mark = {'!' .. ARGV[1] .. fresh, '0'}
    redis.call('DEL', log)
    redis.call('ZADD', log, 0, mark[1])
  end
  if redis.call('TTL', log) * 10 < tonumber(ARGV[2]) * 9 then
    if way == 'look' then return {'aging'} end
    redis.call('EXPIRE', log, ARGV[2])
  end
  local last, seq = -tonumber(mark[2]), tonumber(after)
  local found = {mark[1]:sub(10), last}
  if epoch == found[1] and seq <= last and seq >= last - (redis.call('ZCARD', log) - 1) then
    found[3] = redis.call('ZRANGEBYSCORE', log, '(' .. after, '+inf')
  end
  return found
end
local out = {}
for i, log in ipairs(KEYS) do
  out[i] = read(log, ARGV[4 * i - 1], ARGV[4 * i], ARGV[4 * i + 1], ARGV[4 * i + 2])
end
return out
`

// errNoReply says that a script was gone again before it could run.
var errNoReply = errors.New("a script did not run")

// Logs are all live logs. They are of one role, so one connection tells of all of them.
type Logs struct {
	store *Store
}

// Logs reads and writes live logs.
func (s *Store) Logs() *Logs { return &Logs{store: s} }

// Ended is told when all logs have ended, so that whoever listens should read his log again. It is for one
// receiver.
func (l *Logs) Ended() <-chan struct{} { return l.store.logsEnded }

// Append adds an entry to those of the logs that somebody listens to, and tells the processes that they
// are listened to through; it returns those logs. An entry that a log holds already is not added again; of
// changes of counters it takes one in each social.CountersInterval, by the server's clock. It
// takes one trip, three when a server lacks the script. After an error some of the logs may have it.
// Where there is no memory for it, the logs end.
func (l *Logs) Append(ctx context.Context, logs []social.LogID, entry social.LiveEntry) ([]social.LogID, error) {
	var interval time.Duration
	if entry.Kind == social.LiveCounters {
		interval = social.CountersInterval
	}
	b := l.batch(l.store.scripts.appendLog, packEntry(entry), logLength, interval.Milliseconds())
	for _, log := range logs {
		b.addKey(logKey(log))
	}
	switch err := b.run(ctx, "append to"); {
	case outOfMemory(err):
		return nil, l.Reset(ctx, logs)
	case err != nil:
		return nil, err
	}
	var listening []social.LogID
	for i, c := range b.calls {
		places, ok := c.reply.([]any)
		if !ok {
			return nil, away("append to log", errNoReply)
		}
		for _, place := range places {
			n, _ := place.(int64)
			listening = append(listening, logs[i*b.most+int(n)-1])
		}
	}
	return listening, nil
}

// Read answers asks in order, and begins the logs that are missing: from then on events are written into
// them, for 10 minutes from the last Read. It takes one trip, three when a server lacks the script, and two
// more when a log of a home page is begun, and once a minute: then its player is noted among those who
// listen, first. Where he was noted before and is no longer, somebody may have passed him over: the log
// begins anew. With an error, what could be read all the same is there.
func (l *Logs) Read(ctx context.Context, asks []social.LogAsk) ([]social.LogRead, error) {
	reads := make([]social.LogRead, len(asks))
	visits := make([]logVisit, len(asks))
	for i, ask := range asks {
		visits[i] = logVisit{at: i, way: logKeep}
		if ask.Log.Kind == social.LogHome {
			visits[i].way = logLook
		}
	}
	again, err := l.visit(ctx, asks, visits, reads)
	if len(again) == 0 {
		return reads, err
	}
	fresh, noteErr := l.note(ctx, asks, again)
	if noteErr != nil {
		return reads, errors.Join(err, noteErr)
	}
	for i, v := range again {
		again[i].way = logKeep
		if v.way == logAging && fresh[asks[v.at].Log.Of] {
			again[i].way = logAnew
		}
	}
	_, keepErr := l.visit(ctx, asks, again, reads)
	return reads, errors.Join(err, keepErr)
}

// The ways to visit a log, as luaReadLog takes them, and what it may say of a log that was looked at.
const (
	logLook  = "look"
	logKeep  = "keep"
	logAnew  = "anew"
	logAging = "aging"
)

// logVisit is a visit to the log of the ask at a place.
type logVisit struct {
	at  int
	way string
}

// visit reads logs into reads; again are those that were looked at and are to be kept.
func (l *Logs) visit(ctx context.Context, asks []social.LogAsk, visits []logVisit, reads []social.LogRead) (again []logVisit, err error) {
	epoch := l.store.epochs[logEpoch].Load()
	b := l.batch(l.store.scripts.readLog, fmt.Sprintf("%08x", epoch), seconds(homeLogKeys.ttl))
	for _, v := range visits {
		ask := asks[v.at]
		fresh := max(rand.Uint64(), 1)
		b.addKey(logKey(ask.Log), v.way, packEpoch(ask.After.Epoch), ask.After.Seq, packEpoch(fresh))
	}
	err = b.run(ctx, "read")
	for i, c := range b.calls {
		logs, ok := c.reply.([]any)
		if !ok && err == nil {
			err = away("read log", errNoReply)
		}
		for n, found := range logs {
			v := visits[i*b.most+n]
			if parts, _ := found.([]any); len(parts) > 1 {
				reads[v.at] = unpackLog(asks[v.at].After, found)
			} else if len(parts) == 1 {
				again = append(again, logVisit{at: v.at, way: logAging})
			} else {
				again = append(again, logVisit{at: v.at})
			}
		}
	}
	return again, err
}

// Reset ends the logs, so that all who listen or come back meet a gap, and tells the
// processes that they listen through. It takes two trips: in Cluster a notice sent along with the end
// could be there before it.
func (l *Logs) Reset(ctx context.Context, logs []social.LogID) error {
	ends, notices := l.server().client.Pipeline(), l.server().client.Pipeline()
	for _, log := range logs {
		ends.Del(ctx, logKey(log))
		notices.Publish(ctx, logKey(log), "")
	}
	for _, pipe := range []redis.Pipeliner{ends, notices} {
		if _, err := pipe.Exec(ctx); err != nil {
			return away("reset logs", err)
		}
	}
	return nil
}

func (l *Logs) server() *server { return l.store.servers[homeLogKeys.role] }

func (l *Logs) batch(script *redis.Script, shared ...any) *batch {
	b := &batch{server: l.server(), keys: homeLogKeys, script: script, shared: shared, most: 1}
	if b.server.single {
		b.most = keysPerCall
	}
	return b
}

// logKey spells the key of a log, which is also the name of the channel of its notices.
func logKey(log social.LogID) string { return logKinds[log.Kind].key(log.Of) }

// logOf reads a key of a log.
func logOf(key string) (social.LogID, bool) {
	for kind, keys := range logKinds {
		if number, ok := keys.number(key); ok {
			return social.LogID{Kind: kind, Of: number}, true
		}
	}
	return social.LogID{}, false
}

func packEpoch(epoch uint64) string { return fmt.Sprintf("%0*x", epochDigits, epoch) }

// packEntry writes the kind's letter, the id, a point and the version.
func packEntry(e social.LiveEntry) string {
	b := append(make([]byte, 0, 40), byte(e.Kind))
	b = strconv.AppendInt(b, e.ID, 10)
	return string(strconv.AppendInt(append(b, '.'), e.Version, 10))
}

// unpackEntry gives the zero entry for what can't be read, so that its place in the log stays taken.
func unpackEntry(s string) social.LiveEntry {
	if s == "" {
		return social.LiveEntry{}
	}
	id, version, _ := strings.Cut(s[1:], ".")
	e := social.LiveEntry{Kind: social.LiveKind(s[0])}
	var errID, errVersion error
	e.ID, errID = strconv.ParseInt(id, 10, 64)
	e.Version, errVersion = strconv.ParseInt(version, 10, 64)
	if errID != nil || errVersion != nil {
		return social.LiveEntry{}
	}
	return e
}

func unpackLog(after social.LogPlace, result any) social.LogRead {
	found, _ := result.([]any)
	if len(found) < 2 {
		return social.LogRead{}
	}
	digits, _ := found[0].(string)
	epoch, err := strconv.ParseUint(digits, 16, 64)
	if err != nil {
		return social.LogRead{}
	}
	last, _ := found[1].(int64)
	read := social.LogRead{End: social.LogPlace{Epoch: epoch, Seq: last}, Gap: len(found) == 2 && after != social.LogPlace{}}
	if len(found) > 2 {
		members, _ := found[2].([]any)
		for _, member := range members {
			s, _ := member.(string)
			read.Entries = append(read.Entries, unpackEntry(s))
		}
	}
	return read
}

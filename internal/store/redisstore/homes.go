package redisstore

import (
	"context"

	"circle/internal/social"
)

// Homes are timelines together with their players' lists of pulled authors, which share their slots. A
// player has both or neither: without the list nobody could tell what his timeline lacks.
type Homes struct {
	timelines, pulls *Windows
}

// Homes reads what home pages are made of.
func (s *Store) Homes() *Homes { return &Homes{timelines: s.Timelines(), pulls: s.Pulls()} }

// luaHome is what both scripts that follow return: of the timeline and of the list of pulled authors, each
// as luaPage returns it, the whole of the second; nothing when one of them is absent, of another epoch, or
// being built.
//
//	KEYS[1, 2]  the timeline, the list of pulled authors
//	ARGV[3]     the index epoch
//	ARGV[4]     where the range of the timeline's piece begins
//	ARGV[5]     how many entries at most
const luaHome = `
local function floor(key) return (redis.call('ZRANGE', key, 0, 0)[1] or ''):match('^!' .. ARGV[3] .. ':(%d+)') end
local reach, pulls = floor(KEYS[1]), floor(KEYS[2])
if not reach or not pulls then return {} end
return {
  {reach, redis.call('TTL', KEYS[1]), redis.call('ZCARD', KEYS[1]) - 1, redis.call('ZRANGEBYLEX', KEYS[1], ARGV[4], '+', 'LIMIT', 0, ARGV[5])},
  {pulls, redis.call('TTL', KEYS[2]), redis.call('ZCARD', KEYS[2]) - 1, redis.call('ZRANGE', KEYS[2], 1, -1, 'WITHSCORES')}
}
`

// luaPull merges feeds into a timeline as luaMerge does, moves the positions that are where they were when
// the feeds were looked for, and reads what luaHome reads.
//
//	ARGV[1, 2]      of luaWindow
//	ARGV[6]         how many positions to move
//	ARGV[7, 8, 9 …] for each the author, the old position, the new one
//	then            score and member of each feed, nearest first
const luaPull = luaWindow + `
local first = 7 + 3 * tonumber(ARGV[6])
local list = open(KEYS[1])
if list then put(list, first, {}) end
for i = 7, first - 1, 3 do
  local score = redis.call('ZSCORE', KEYS[2], ARGV[i])
  if score and 0 - score == tonumber(ARGV[i + 1]) then redis.call('ZADD', KEYS[2], '-' .. ARGV[i + 2], ARGV[i]) end
end
` + luaHome

// Read reads a piece of a player's timeline and his pulled authors. It is absent when one of the two is, or
// does not hold all of these authors. It takes one trip; one more when a server lacks the script, or to
// renew what has lost an eighth of its time to live.
func (h *Homes) Read(ctx context.Context, ask social.WindowAsk) (social.HomeWindow, error) {
	calls := []call{h.call(ask)}
	calls[0].script = h.timelines.store.scripts.home
	if err := h.timelines.server().ask(ctx, pointers(calls)); err != nil {
		return social.HomeWindow{}, away("read home", err)
	}
	return h.window(ctx, ask, calls[0].reply), nil
}

// Pull merges feeds of pulled authors into a player's timeline, nearest first, moves their positions and
// reads as Read does, from the primary. It takes one trip for some hundred feeds and one more for others,
// three when a server lacks the script.
func (h *Homes) Pull(ctx context.Context, ask social.WindowAsk, feeds []social.Entry, moves []social.PositionMove) (social.HomeWindow, error) {
	// A position moves only with or after the last of what it is to cover.
	if more := len(feeds) - entriesPerCall; more > 0 {
		if err := h.timelines.Merge(ctx, ask.ID, feeds[:more]); err != nil {
			return social.HomeWindow{}, err
		}
		feeds = feeds[more:]
	}
	c := h.call(ask)
	c.script = h.timelines.store.scripts.pull
	c.args = append(c.args, len(moves))
	for _, m := range moves {
		c.args = append(c.args, int64(m.Author), m.From, m.To)
	}
	c.args = h.timelines.pairs(c.args, feeds)
	calls := []call{c}
	if err := h.timelines.server().run(ctx, calls); err != nil {
		return social.HomeWindow{}, away("pull into home", err)
	}
	return h.window(ctx, ask, calls[0].reply), nil
}

func (h *Homes) call(ask social.WindowAsk) call {
	w := h.timelines
	return call{
		keys: []string{w.keys.key(ask.ID), h.pulls.keys.key(ask.ID)},
		args: append(w.shared(), w.epoch(), w.order.after(ask.After), ask.Limit+1),
	}
}

func (h *Homes) window(ctx context.Context, ask social.WindowAsk, reply any) (home social.HomeWindow) {
	parts, _ := reply.([]any)
	if len(parts) < 2 {
		return home
	}
	timeline, pulls := readReply(parts[0]), readReply(parts[1])
	if authors := h.pulls.toPage(pulls, h.pulls.cap); authors.Ended {
		home.WindowPage, home.Pulled = h.timelines.toPage(timeline, ask.Limit), authors.Entries
	}
	if h.timelines.aging(timeline) || h.pulls.aging(pulls) {
		h.timelines.prolong(ctx, []int64{ask.ID})
		h.pulls.prolong(ctx, []int64{ask.ID})
	}
	return home
}

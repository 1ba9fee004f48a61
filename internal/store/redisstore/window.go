package redisstore

import (
	"fmt"
	"strconv"

	"circle/internal/social"
)

// Windows are ordered lists of one kind: the nearest entries of each list, complete down to its
// floor. Lists that a player reads page by page, and membership in them, are answered from here
// as far as they reach, and from the relational store beyond.
//
// A list exists once it was built (Begin, read the relational store, Finish); until then nothing is
// pushed into it and reads find it absent. It may be lost at any time. Windows are safe for use by
// many goroutines.
type Windows struct {
	store *Store
	keys  family
	order order
	cap   int // entries a list may hold
	// spread says that a list with a floor is to be kept otherwise, and so is unfinished.
	spread bool
	// few, unless it is 0, makes pushes cheap. A list of no more entries has no end, or is dropped; so it is
	// for lists that are seldom shortened once they have an end. And a full list loses up to 15 entries more
	// than it must.
	few int
}

// order is how a list is ordered. Its text is its name in the scripts.
type order string

const (
	// newest: things, the newest first. All scores are 0; the member is the id taken from MaxID, in 16
	// digits, so that the next entry is added at the list's head.
	newest order = "newest"
	// oldest: things, the oldest first, by the id in 16 digits. The floor is above the entries.
	oldest order = "oldest"
	// players: by the edge or like, the newest first, which is the score turned negative.
	players order = "players"
)

// member is a feed or a player as the lists hold it.
func (o order) member(id int64) string {
	switch o {
	case players:
		return strconv.FormatInt(id, 10)
	case oldest:
		return fmt.Sprintf("%016d", id)
	}
	return fmt.Sprintf("%016d", social.MaxID-id)
}

// score is that of an entry.
func (o order) score(e social.Entry) string {
	if o == players {
		return strconv.FormatInt(-e.Key, 10)
	}
	return "0"
}

// after begins the range of the entries behind the key.
func (o order) after(key int64) string {
	switch {
	case o == players:
		return "(" + strconv.FormatInt(-key, 10)
	case o == newest && key > social.MaxID:
		return "[0"
	}
	return "(" + o.member(key)
}

// end ends the range of all entries.
func (o order) end() string {
	if o == players {
		return "+inf"
	}
	return "+"
}

// bound begins the range of the entries at or beyond the floor.
func (o order) bound(floor int64) string {
	if o == players {
		return strconv.FormatInt(-floor, 10)
	}
	return "[" + o.member(floor)
}

// within says that a thing's id is on this side of the floor.
func (o order) within(id, floor int64) bool {
	return floor == 0 || (o == newest && id > floor) || (o == oldest && id < floor)
}

// width is how many parts of a reply make an entry.
func (o order) width() int {
	if o == players {
		return 2
	}
	return 1
}

// entry reads an entry from the parts of a reply.
func (o order) entry(parts []any) social.Entry {
	text, _ := parts[0].(string)
	member, _ := strconv.ParseInt(text, 10, 64)
	switch o {
	case players:
		return social.Entry{Member: member, Key: keyOf(parts[1])}
	case newest:
		member = social.MaxID - member
	}
	return social.Entry{Member: member, Key: member}
}

// keyOf turns the score of a player into the id of the edge or like. Servers write large scores with
// or without an exponent.
func keyOf(score any) int64 {
	text, _ := score.(string)
	f, _ := strconv.ParseFloat(text, 64)
	return int64(-f)
}

// capped bounds how many entries a list of some kind holds.
func (s *Store) capped(n int) int {
	if s.listCap != 0 {
		return min(n, s.listCap)
	}
	return n
}

// Timelines are the feeds on players' home pages, the newest 1,000.
func (s *Store) Timelines() *Windows {
	cap := s.capped(1000)
	return &Windows{store: s, keys: timelineKeys, order: newest, cap: cap, few: cap / 2}
}

// pullsCap is how many pulled authors a list holds; whoever follows more is served by the relational store.
const pullsCap = 1000

// Pulls are the pulled authors whom players follow, by position: the feed up to which all of the author's
// are in the player's timeline.
func (s *Store) Pulls() *Windows {
	return &Windows{store: s, keys: pullsKeys, order: players, cap: s.capped(pullsCap)}
}

// Profiles are the feeds that players made, the newest 20,000.
func (s *Store) Profiles() *Windows {
	return &Windows{store: s, keys: profileKeys, order: newest, cap: s.capped(20_000)}
}

// Liked are the feeds that players like, the newest 10,000 feeds.
func (s *Store) Liked() *Windows {
	return &Windows{store: s, keys: likedKeys, order: newest, cap: s.capped(10_000)}
}

// Likes are the players who like a feed, by like, the newest 10,000.
func (s *Store) Likes() *Windows {
	return &Windows{store: s, keys: likesKeys, order: players, cap: s.capped(10_000)}
}

// threadCap is how many comments a list of them holds: as many as stay in the compact encoding.
const threadCap = 1000

// CommentHeads are the comments on a feed, the oldest 1,000.
func (s *Store) CommentHeads() *Windows {
	return &Windows{store: s, keys: commentsKeys, order: oldest, cap: s.capped(threadCap)}
}

// Replies are the answers in the thread of a comment, the oldest 1,000.
func (s *Store) Replies() *Windows {
	return &Windows{store: s, keys: repliesKeys, order: oldest, cap: s.capped(threadCap)}
}

// Following are the players whom a player follows, by edge.
func (s *Store) Following() *Split { return s.splits[social.ListFollowing] }

// Fans are the players who follow a player, by edge.
func (s *Store) Fans() *Split { return s.splits[social.ListFans] }

// Friends are the players with whom a player follows each other, by edge.
func (s *Store) Friends() *Split { return s.splits[social.ListFriends] }

// Blocked are the players whom a player blocks, by edge.
func (s *Store) Blocked() *Split { return s.splits[social.ListBlocked] }

// Blockers are the players who block a player, by edge.
func (s *Store) Blockers() *Split { return s.splits[social.ListBlockers] }

// Muted are the players whom a player mutes, by edge.
func (s *Store) Muted() *Split { return s.splits[social.ListMuted] }

func (w *Windows) server() *server { return w.store.servers[w.keys.role] }

func (w *Windows) epoch() uint32 { return w.store.epochs[w.keys.role].Load() }

// pairs appends score and member of each entry.
func (w *Windows) pairs(args []any, entries []social.Entry) []any {
	for _, e := range entries {
		args = append(args, w.order.score(e), w.order.member(e.Member))
	}
	return args
}

package social

import "maps"

// Entry is an entry of an ordered list: a feed, or a player with the edge or like that brought it there.
type Entry struct {
	// Member is the feed's or the player's id.
	Member int64
	// Key is the id that the list is ordered by: of a feed its id once more, of a player that of the
	// edge or like.
	Key int64
}

// WindowState says whether a window could be asked.
type WindowState uint8

// The states of a window.
const (
	// WindowAbsent: there is no such list, it is of another epoch, or it is being built.
	WindowAbsent WindowState = iota
	// WindowWhole: the list is complete down to its floor.
	WindowWhole
)

// WindowAsk asks for a piece of a list.
type WindowAsk struct {
	// ID is the list's number: a player or a feed.
	ID int64
	// After is the key behind which the piece begins: that of the last entry of the piece before. A
	// list begins with MaxID+1, one that has the oldest first with 0.
	After int64
	// Limit is how many entries are wanted.
	Limit int
}

// AboveAsk asks for the entries of a list whose keys are above one, the newest first.
type AboveAsk struct {
	// ID is the list's number: a player.
	ID    int64
	Above int64
	// Limit is how many entries are wanted: the newest.
	Limit int
}

// HomeWindow is a piece of a player's timeline with the authors whose newest feeds may lack in it, both
// of one moment.
type HomeWindow struct {
	WindowPage
	// Pulled has an author as member and his position as key: the timeline holds all of his feeds up to it,
	// as far down as it reaches, and perhaps more.
	Pulled []Entry
}

// Pulls says that a feed may be lacking in the timeline, since its author is pulled.
func (h HomeWindow) Pulls(feed *Feed) bool {
	for _, author := range h.Pulled {
		if author.Member == int64(feed.AuthorID) {
			return int64(feed.ID) > author.Key
		}
	}
	return false
}

// PositionMove moves the position of a pulled author in a player's list.
type PositionMove struct {
	Author PlayerID
	// From is where the position must still be for it to move to To.
	From, To int64
}

// WindowPage is the answer to a WindowAsk.
type WindowPage struct {
	State   WindowState
	Entries []Entry
	// Ended says that nothing follows the entries. When it is false and there are fewer entries than
	// wanted, the rest is in the relational store, behind the last entry or the key that was asked.
	Ended bool
	// Floor is where the list ends: all entries with larger keys are in it (with smaller ones, where
	// the oldest come first). 0 means that it holds all there are.
	Floor int64
	// Size is how many entries the list holds in all.
	Size int
	// Unfinished says that the list has room for more than it was built with: it is to be built further.
	Unfinished bool
}

// Presence says whether a member is in a list, with what the window knows.
type Presence uint8

// The presences.
const (
	// PresenceUnknown: only the relational store can tell.
	PresenceUnknown Presence = iota
	// PresenceNo: it is not in the list.
	PresenceNo
	// PresenceYes: it is in the list.
	PresenceYes
)

// Membership is the answer to a question for a member.
type Membership struct {
	Presence Presence
	// Key is the entry's key when the answer is PresenceYes.
	Key int64
}

// Members is the answer to a question for many members of a list.
type Members struct {
	State   WindowState
	Answers []Membership
	// Floor is that of WindowPage: members of whom nothing is known have no key above it.
	Floor int64
}

// Cards is what a cache knows of feeds that stand in a list; what it lacks is absent.
type Cards struct {
	Heads    map[FeedID]*Feed
	Counters map[FeedID]*FeedCounters
	// Liked holds only the feeds of which it is known whether the viewer likes them.
	Liked map[FeedID]bool
	// LikedAbsent says that the viewer's list of liked feeds is to be built.
	LikedAbsent bool
}

// People is what is known of players; what a cache lacks is absent.
type People struct {
	Players map[PlayerID]*Player
	// Relations holds only the players of whom it is known what they are to the viewer.
	Relations map[PlayerID]Relation
	// Absent are the viewer's lists that are to be built.
	Absent []RelationList
}

// Likers is what a cache knows of the likers of feeds.
type Likers struct {
	// Pages are pieces of the likers.
	Pages []WindowPage
	// Friends are some of the viewer's friends, the newest.
	Friends WindowPage
}

// With joins what is known of players. Neither is changed.
func (p People) With(more People) People {
	if len(p.Players) == 0 {
		return more
	}
	joined := People{Players: maps.Clone(p.Players), Relations: maps.Clone(p.Relations)}
	maps.Copy(joined.Players, more.Players)
	if joined.Relations == nil {
		joined.Relations = make(map[PlayerID]Relation, len(more.Relations))
	}
	maps.Copy(joined.Relations, more.Relations)
	return joined
}

package social

import "time"

// Relation is how a viewer stands to another player.
type Relation struct {
	Following bool
	Fan       bool
	// Blocking: the viewer blocks the player; BlockedBy: the player blocks the viewer.
	Blocking  bool
	BlockedBy bool
	// Muted: the viewer mutes the player.
	Muted bool
}

// Friend says that both follow each other.
func (r Relation) Friend() bool { return r.Following && r.Fan }

// Apart says that one of the two blocks the other: neither sees the other, nor what the other made, in any list.
func (r Relation) Apart() bool { return r.Blocking || r.BlockedBy }

// Unknown says that the player is not there for the viewer even when asked for alone. Whom the viewer himself
// blocks he can still ask for, if only to end that.
func (r Relation) Unknown() bool { return r.BlockedBy && !r.Blocking }

// Edge is one player's row about another: the edges between them by id, 0 where there is none.
// The row of the peer about the player mirrors it.
type Edge struct {
	Player    PlayerID
	Peer      PlayerID
	Following EdgeID
	Fan       EdgeID
	// Friend is the later of the two while both are there.
	Friend EdgeID
	// Block: the player blocks the peer; Blocked: the peer blocks the player. The same for muting.
	Block, Blocked EdgeID
	Mute, Muted    EdgeID
}

// Mirror is the same pair as the peer sees it.
func (e Edge) Mirror() Edge {
	return Edge{
		Player: e.Peer, Peer: e.Player, Following: e.Fan, Fan: e.Following, Friend: e.Friend,
		Block: e.Blocked, Blocked: e.Block, Mute: e.Muted, Muted: e.Mute,
	}
}

// Relation is the edge without its ids. Whether the peer mutes the player is nobody's business.
func (e Edge) Relation() Relation {
	return Relation{
		Following: e.Following != 0, Fan: e.Fan != 0,
		Blocking: e.Block != 0, BlockedBy: e.Blocked != 0, Muted: e.Mute != 0,
	}
}

// In is the id of the edge that brings the peer into one of the player's lists; 0 when he is not in it.
func (e Edge) In(list RelationList) EdgeID {
	switch list {
	case ListFans:
		return e.Fan
	case ListFriends:
		return e.Friend
	case ListBlocked:
		return e.Block
	case ListBlockers:
		return e.Blocked
	case ListMuted:
		return e.Mute
	}
	return e.Following
}

// RelationList names a player's list of other players.
type RelationList uint8

// The lists of players that belong to a player.
const (
	ListFollowing RelationList = iota
	ListFans
	ListFriends
	// ListBlocked are the players whom the player blocks, ListBlockers those who block the player.
	ListBlocked
	ListBlockers
	ListMuted
)

// RelationLists lists all of them.
func RelationLists() []RelationList {
	return []RelationList{ListFollowing, ListFans, ListFriends, ListBlocked, ListBlockers, ListMuted}
}

var relationListNames = [...]string{"following", "fans", "friends", "blocked", "blockers", "muted"}

// String is the list's name, for keys, logs and metrics.
func (l RelationList) String() string { return relationListNames[l] }

// PlayerEdge is one entry of a list of players; the list's order is Edge, newest first.
type PlayerEdge struct {
	Player PlayerID
	Edge   EdgeID
}

// Since says when the edge was made.
func (e PlayerEdge) Since() time.Time { return e.Edge.Time() }

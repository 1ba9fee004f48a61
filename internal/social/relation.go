package social

import "time"

// Relation is how a viewer stands to another player.
type Relation struct {
	Following bool
	Fan       bool
}

// Friend says that both follow each other.
func (r Relation) Friend() bool { return r.Following && r.Fan }

// Edge is one player's row about another: the edges between them by id, 0 where there is none.
// The row of the peer about the player mirrors it.
type Edge struct {
	Player    PlayerID
	Peer      PlayerID
	Following EdgeID
	Fan       EdgeID
	// Friend is the later of the two while both are there.
	Friend EdgeID
}

// Mirror is the same pair as the peer sees it.
func (e Edge) Mirror() Edge {
	return Edge{Player: e.Peer, Peer: e.Player, Following: e.Fan, Fan: e.Following, Friend: e.Friend}
}

// Relation is the edge without its ids.
func (e Edge) Relation() Relation {
	return Relation{Following: e.Following != 0, Fan: e.Fan != 0}
}

// RelationList names a player's list of other players.
type RelationList uint8

// The lists of players that belong to a player.
const (
	ListFollowing RelationList = iota
	ListFans
	ListFriends
)

// PlayerEdge is one entry of a list of players; the list's order is Edge, newest first.
type PlayerEdge struct {
	Player PlayerID
	Edge   EdgeID
}

// Since says when the edge was made.
func (e PlayerEdge) Since() time.Time { return e.Edge.Time() }

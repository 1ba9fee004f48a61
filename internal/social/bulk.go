package social

import "time"

// MaxExternalIDLength bounds an id from elsewhere, in bytes.
const MaxExternalIDLength = 64

// ExternalKind says what an imported thing is. The numbers are stored.
type ExternalKind uint8

// The kinds of imported things that keep the id they had.
const (
	ExternalPlayer ExternalKind = 1
	ExternalFeed   ExternalKind = 2
)

// ExternalID is the id that an imported thing had where it came from.
type ExternalID struct {
	Kind     ExternalKind
	External string
	// ID is a PlayerID or a FeedID, as Kind says.
	ID int64
}

// BulkPlayer is a player who comes with counters and without a way to log in.
type BulkPlayer struct {
	ID       PlayerID
	Name     string
	NameKey  string
	JoinedAt time.Time
	Counts   PlayerCounts
	// Version is the first version of the player and of the counters.
	Version int64
}

// BulkFeed is a feed that comes with its number of likes.
type BulkFeed struct {
	Feed
	// Content is the whole text.
	Content string
	Likes   int
}

// Batch holds new rows that are written in one transaction, past the outbox and the follow limit.
// Whoever writes batches keeps counters and rows equal, and writes players and feeds after all
// that hangs on them: until then nobody can see or change any of it.
type Batch struct {
	// Edges are single rows; the mirror of each is another.
	Edges   []Edge
	Likes   []Like
	Feeds   []BulkFeed
	Players []BulkPlayer
	// External are the ids that the batch's players and feeds had.
	External []ExternalID
	// Step, unless it is nil, is how far the import is with this batch.
	Step *ImportStep
}

// ImportPlace is how far an import is: so many things of a phase are written, and all of those before.
type ImportPlace struct {
	Phase    string
	Position int64
}

// ImportStep moves an import on.
type ImportStep struct {
	Source   string
	From, To ImportPlace
}

// ImportState is what an import must know to go on where it stopped.
type ImportState struct {
	Source string
	ImportPlace
	// FirstPlayer begins the range of players that is reserved for it.
	FirstPlayer PlayerID
	// FirstID begins the run of identifiers that is reserved for it.
	FirstID int64
}

// IDRun counts through the identifiers of one node.
type IDRun struct {
	start int64 // in milliseconds
	node  int64
}

// IDRunAt is the run of the node that made the identifier like, from the given instant on.
func IDRunAt(t time.Time, like int64) IDRun {
	return IDRun{start: IDAt(t) >> timeShift, node: like >> nodeShift & MaxNode}
}

// At is the n-th identifier of the run, the first is 0.
func (r IDRun) At(n int64) int64 {
	return (r.start+n>>nodeShift)<<timeShift | r.node<<nodeShift | n&maxSeq
}

// Made says whether the run's node made the identifier.
func (r IDRun) Made(id int64) bool { return id>>nodeShift&MaxNode == r.node }

// IDRunLength is how many identifiers a node has in the given time.
func IDRunLength(d time.Duration) int64 { return d.Milliseconds() << nodeShift }

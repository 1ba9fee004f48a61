package social

import "time"

// LogKind says of what a live log tells.
type LogKind uint8

// The kinds of live logs.
const (
	// LogHome is of a player: what happens on the player's home page.
	LogHome LogKind = iota
	// LogInbox is of a player: messages and notifications.
	LogInbox
	// LogFeed is of a feed: what becomes of the feed, its counters and its comments.
	LogFeed
)

// LogID names a live log.
type LogID struct {
	Kind LogKind
	// Of is the id of the player or the feed.
	Of int64
}

// LiveKind says what became of the subject of a live entry. The values are written into logs.
type LiveKind byte

// The kinds of live entries.
const (
	LiveFeedAdded   LiveKind = 'a'
	LiveFeedEdited  LiveKind = 'e'
	LiveFeedRemoved LiveKind = 'r'

	LiveMessageReceived LiveKind = 'm'
	LiveMessageRemoved  LiveKind = 'd'
	// LiveUnreadChanged is of a player; the version is that of the event that changed the counts.
	LiveUnreadChanged LiveKind = 'u'

	LiveCommentAdded   LiveKind = 'c'
	LiveCommentRemoved LiveKind = 'x'
	// LiveCounters is of the log's own feed, so it has no id, and no version: a log holds one entry for all
	// changes of a CountersInterval.
	LiveCounters LiveKind = 'n'
)

// CountersInterval is how far apart the entries are that say that a feed's counters have changed: there are
// at most 4 a second, however many change them. Counters that are read so long after an entry hold all
// that it stands for.
const CountersInterval = 250 * time.Millisecond

// LiveEntry is what a live log holds of an event: where to look, not what is to be seen. Equal
// entries are one.
type LiveEntry struct {
	Kind LiveKind
	// ID is that of the subject, of a type that goes with the kind.
	ID int64
	// Version is the subject's, so that a later change is another entry.
	Version int64
}

// LogPlace is a place in a live log. The zero value is no place.
type LogPlace struct {
	// Epoch tells this log from all that were before and will come after it; never 0.
	Epoch uint64
	// Seq is the sequence of the last entry before the place. The first entry has 1, and each has one
	// more than the one ahead of it.
	Seq int64
}

// LogAsk asks for what came into a log after a place; for nothing if it is no place.
type LogAsk struct {
	Log   LogID
	After LogPlace
}

// LogRead is the answer to a LogAsk; the zero value says that the log could not be read.
type LogRead struct {
	// End is the log's end.
	End LogPlace
	// Gap says that the log does not hold what came after the place asked for, or not all of it.
	Gap bool
	// Entries is what came since, oldest first; the last one stands right before End.
	Entries []LiveEntry
}

// LiveItemKind says what a live subscriber is told.
type LiveItemKind uint8

// The kinds of items.
const (
	// LiveStarted comes first: from its place on nothing is missed.
	LiveStarted LiveItemKind = iota
	// LiveGap says that something before its place was missed.
	LiveGap
	// LiveEvent is an entry of the log.
	LiveEvent
)

// LiveItem is what a live subscriber is told at a time.
type LiveItem struct {
	Kind LiveItemKind
	// Place is the one right behind the item: who comes back with it misses nothing.
	Place LogPlace
	// Entry is there for LiveEvent.
	Entry LiveEntry
}

package social

// EventKind says what an event's subject is. The numbers are stored.
type EventKind uint8

// The kinds of events.
const (
	// EventPlayer: the profile of Subject changed, or the player is new.
	EventPlayer EventKind = 1
	// EventFeed: the feed Subject was made, edited or deleted, which gave it the version Object. It
	// was made when the two are equal.
	EventFeed EventKind = 2
	// EventEdge: what the players Subject and Object are to each other changed.
	EventEdge EventKind = 3
	// EventLike: player Object likes the feed Subject, or no longer does.
	EventLike EventKind = 4
	// EventComment: on the feed Subject the comment Object was made or deleted, and with it the head of
	// its thread may have changed.
	EventComment EventKind = 5
	// EventConversation: the message Subject was sent, or deleted by one of the two who could see it;
	// with Subject 0, messages were read. It may have changed how many messages Object has not read.
	EventConversation EventKind = 6
	// EventTimelines: the timelines of the players Subject to Object that are there are to be built anew.
	// Nobody acts.
	EventTimelines EventKind = 7
	// EventFeedShown: the feed Subject was hidden and no longer is, which gave it the version Object.
	EventFeedShown EventKind = 24
)

// String is the kind's name, for logs and metrics.
func (k EventKind) String() string {
	switch k {
	case EventPlayer:
		return "player"
	case EventFeed:
		return "feed"
	case EventEdge:
		return "edge"
	case EventLike:
		return "like"
	case EventComment:
		return "comment"
	case EventConversation:
		return "conversation"
	case EventTimelines:
		return "timelines"
	case EventFeedShown:
		return "feed shown"
	}
	return "unknown"
}

// Event says that the indexes of a subject must be brought up to date. It names the subject, not
// the change: whoever handles it reads the rows as they are now.
type Event struct {
	ID   EventID
	Kind EventKind
	// Actor is the acting player; the far stages of one actor's events run in order.
	Actor   PlayerID
	Subject int64
	Object  int64
	// Epoch is the claim under which the event is held; a later claim has a larger one.
	Epoch int
	// Replay says that both stages were done before and run again because Redis went back in time: what
	// they did to the indexes is to be done again, and nothing else.
	Replay bool
}

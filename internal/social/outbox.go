package social

import "time"

// Time says when the event was made, to the millisecond.
func (id EventID) Time() time.Time { return idTime(int64(id)) }

// ClaimedEvent is an event under a claim, with what its earlier runs left behind.
type ClaimedEvent struct {
	Event
	// Attempts counts the failed runs of the stage.
	Attempts int
	// Place is how far the far stage came, empty at its beginning.
	Place []byte
}

// DeadEvent is an event that was given up.
type DeadEvent struct {
	Event
	Attempts int
	// Reason is the last error's text.
	Reason string
}

// OutboxStats counts the events that are not done.
type OutboxStats struct {
	Near int
	Far  int
	Dead int
	// OldestNear and OldestFar are the oldest events that wait for each stage, 0 when there is none.
	OldestNear, OldestFar EventID
}

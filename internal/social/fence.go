package social

// FenceKey names a fence. Each primary of a role's Redis deployment holds at least one.
type FenceKey struct {
	Role   string
	Number int
}

// Fence is what a fence says, or was noted to have said: all that was written to its primary before At
// is there as long as the fence is. The zero value is no fence.
type Fence struct {
	// At is when it was raised last, in unix milliseconds of the clock of whoever raised it.
	At int64
	// Server tells the history of the primary's data: it is another one after a restart, after a
	// replica was promoted, and where the data was loaded from elsewhere. It may be unknown, "".
	Server string
}

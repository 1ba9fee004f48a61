// Package failpoint lets tests kill the process at chosen points, to show that nothing is lost
// there. It does nothing unless the program is built with the tag failpoints; then the environment
// CIRCLE_FAILPOINT says where: name=kill for the first time the point is met, name=kill@3 for the
// third.
package failpoint

// The points, in the order in which a mutation passes them.
const (
	// BeforeCommit is right before a transaction's COMMIT.
	BeforeCommit = "before-commit"
	// AfterCommit is right after a transaction's COMMIT.
	AfterCommit = "after-commit"
	// BeforeNear is between a mutation's transaction and the near stages of its events.
	BeforeNear = "before-near"
	// AmidNear is after the first of a near stage's indexes was brought up to date.
	AmidNear = "amid-near"
	// BeforeDone is after the near stage, before the event is marked.
	BeforeDone = "before-done"
)

// Names lists all points.
func Names() []string {
	return []string{BeforeCommit, AfterCommit, BeforeNear, AmidNear, BeforeDone}
}

package social

import (
	"io"
	"time"
)

// MaxReasonLength is how many characters the reason of a report has at most.
const MaxReasonLength = 1000

// ReportID identifies a report; later reports have larger ids.
type ReportID int64

// Time says when the report was made, to the millisecond.
func (id ReportID) Time() time.Time { return idTime(int64(id)) }

// String is the global id, e.g. report_0123456789a.
func (id ReportID) String() string { return KindReport + "_" + encodeID(int64(id)) }

// MarshalGQL writes the global id.
func (id ReportID) MarshalGQL(w io.Writer) { writeQuoted(w, id.String()) }

// UnmarshalGQL reads the global id.
func (id *ReportID) UnmarshalGQL(v any) (err error) {
	s, _ := v.(string)
	*id, err = ParseReportID(s)
	return err
}

// ParseReportID reads a report's global id. A malformed one is an error with code INVALID.
func ParseReportID(s string) (ReportID, error) {
	id, err := parseID(KindReport, s)
	return ReportID(id), err
}

// TargetKind says what was reported. The numbers are stored.
type TargetKind uint8

// The kinds of things that can be reported.
const (
	TargetFeed TargetKind = iota + 1
	TargetComment
	TargetMessage
	TargetPlayer
)

var targetKinds = map[string]TargetKind{
	KindFeed: TargetFeed, KindComment: TargetComment, KindMessage: TargetMessage, KindPlayer: TargetPlayer,
}

// Target is a thing that can be reported.
type Target struct {
	Kind TargetKind
	ID   int64
}

// ParseTarget reads the global id of a thing that can be reported. Any other id is an error with code INVALID.
func ParseTarget(s string) (Target, error) {
	kind, ok := targetKinds[KindOf(s)]
	if !ok {
		return Target{}, Fail(CodeInvalid, "This is not the id of a feed, comment, message or player.")
	}
	id, err := parseID(KindOf(s), s)
	return Target{kind, id}, err
}

// Report is what a player reported to moderators.
type Report struct {
	ID       ReportID
	Reporter PlayerID
	Target   Target
	Reason   string
	// Resolved says that a moderator has closed it.
	Resolved bool
}

// CreatedAt says when the report was made.
func (r *Report) CreatedAt() time.Time { return r.ID.Time() }

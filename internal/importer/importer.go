// Package importer brings players, friendships, feeds and likes in by bulk: the performance
// contest's files, and populations made up for tests and measurements.
//
// It writes past the outbox and the follow limit, in short transactions beside a running server.
// What hangs on a player or a feed is written before it, so that nothing can be seen or changed
// until it is whole, and its counters are right from the start. In the end the index epochs are
// raised, which makes everything in Redis absent.
package importer

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"circle/internal/social"
)

// Store takes what is brought in.
type Store interface {
	// ImportState tells how far an import is; false when it has not begun.
	ImportState(ctx context.Context, source string) (social.ImportState, bool, error)
	// BeginImport notes an import and reserves so many players for it, unless it has begun already,
	// and tells how far it is.
	BeginImport(ctx context.Context, begin social.ImportState, players int) (social.ImportState, error)
	// ReservePlayers hands out n dense ids, for good, and returns the first.
	ReservePlayers(ctx context.Context, n int) (social.PlayerID, error)
	// WriteBatch writes all of the batch in one transaction. A name that somebody took meanwhile is
	// NAME_TAKEN.
	WriteBatch(ctx context.Context, batch *social.Batch) error
	// TakenNames tells which of the folded names are in use.
	TakenNames(ctx context.Context, keys []string) (map[string]bool, error)
	// TakenFeedIDs tells which of the ids feeds have.
	TakenFeedIDs(ctx context.Context, ids []social.FeedID) (map[social.FeedID]bool, error)
	// ExternalIDs finds imported things by the ids that they had; those unknown are absent.
	ExternalIDs(ctx context.Context, kind social.ExternalKind, external []string) (map[string]int64, error)
	// RaiseEpochs makes everything in Redis absent.
	RaiseEpochs(ctx context.Context) error
}

// IDs makes identifiers of a node that this process alone has.
type IDs interface {
	Next(ctx context.Context) (int64, error)
}

// Deps is what an import needs. All fields must be set.
type Deps struct {
	Store Store
	IDs   IDs
	Now   func() time.Time
	// Progress shows a bar when it is a terminal.
	Progress io.Writer
	Log      *slog.Logger
}

// Result says what was brought in.
type Result struct {
	Players int
	// Follows are directed, Friends are the pairs of players who follow each other.
	Follows int
	Friends int
	Feeds   int
	Likes   int
	// Unknown, Self and Repeated count what was left out of files: what names an unknown player,
	// friendships with oneself, and what was there already.
	Unknown, Self, Repeated int
	// Again says that all of it had been imported before, so that nothing was written.
	Again bool
	// FirstPlayer is the first of the players, whose ids are consecutive.
	FirstPlayer social.PlayerID
}

// String tells the numbers in one line.
func (r Result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d players, %d follows (%d pairs of friends), %d feeds, %d likes", r.Players, r.Follows, r.Friends, r.Feeds, r.Likes)
	if r.Unknown+r.Self+r.Repeated > 0 {
		fmt.Fprintf(&b, "; left out: %d with an unknown player, %d with oneself, %d repeated", r.Unknown, r.Self, r.Repeated)
	}
	if r.Again {
		b.WriteString("; imported before, nothing changed")
	}
	return b.String()
}

// Rows per transaction. SQLite has one writer at a time: a server's writes wait for as long as one
// of these takes, some tens of milliseconds. Likes lie scattered over their index by player, so more
// at once save writes.
const (
	edgesAtOnce   = 2000
	likesAtOnce   = 5000
	feedsAtOnce   = 1000
	playersAtOnce = 1000
)

// nameTries bounds how often players are named anew because somebody took a name meanwhile.
const nameTries = 5

// writePlayers names the players of a batch, whose names may be taken, and writes it.
func (d Deps) writePlayers(ctx context.Context, names *names, bases []string, b *social.Batch) error {
	for try := 1; ; try++ {
		if err := names.settle(ctx, d.Store, bases, b.Players); err != nil {
			return err
		}
		err := d.Store.WriteBatch(ctx, b)
		if social.CodeOf(err) != social.CodeNameTaken || try == nameTries {
			return err
		}
	}
}

// reserve takes n consecutive identifiers: it draws until the clock has passed the last of them, so
// that nobody else can be given one. They come 128 to a millisecond.
func reserve(ctx context.Context, ids IDs, n int64) (social.IDRun, error) {
	for {
		id, err := ids.Next(ctx)
		if err != nil {
			return social.IDRun{}, err
		}
		run := social.IDRunAt(social.FeedID(id).Time().Add(time.Millisecond), id)
		for run.Made(id) && id <= run.At(n) {
			if id, err = ids.Next(ctx); err != nil {
				return social.IDRun{}, err
			}
		}
		if run.Made(id) {
			return run, nil
		}
	}
}

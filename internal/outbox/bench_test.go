package outbox

import (
	"context"
	"log/slog"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
	"circle/internal/store/sqlstore"
	"circle/internal/testkit/freshdb"
)

// BenchmarkLike measures what an event adds to a like: nothing, the event with its mark written in
// groups behind the answer, and the event with a mark of its own before the answer.
func BenchmarkLike(b *testing.B) {
	for _, way := range []struct {
		name   string
		append bool
		after  func(r *Runner, ctx context.Context, e social.Event)
	}{
		{name: "bare"},
		{name: "grouped", append: true, after: func(r *Runner, ctx context.Context, e social.Event) { r.RunInline(ctx, []social.Event{e}) }},
		{name: "alone", append: true, after: func(r *Runner, ctx context.Context, e social.Event) { r.finishNear(ctx, []social.Event{e}) }},
	} {
		b.Run("sqlite/"+way.name, func(b *testing.B) { benchLike(b, freshdb.SQLite(b), way.append, way.after) })
		if server := os.Getenv(freshdb.Variable); server != "" {
			b.Run("mysql/"+way.name, func(b *testing.B) { benchLike(b, freshdb.MySQL(b, server), way.append, way.after) })
		}
	}
}

func benchLike(b *testing.B, url string, event bool, after func(*Runner, context.Context, social.Event)) {
	const feeds, callers = 1000, 16
	ctx := context.Background()
	s, err := sqlstore.Open(ctx, sqlstore.Config{URL: url, Owner: 1})
	require.NoError(b, err)
	defer func() { require.NoError(b, s.Close()) }()
	require.NoError(b, s.Migrate(ctx))
	for id := range social.FeedID(feeds) {
		require.NoError(b, s.InTx(ctx, func(tx *sqlstore.Tx) error {
			return tx.InsertFeed(ctx, social.Feed{ID: id + 1, AuthorID: 1, Visibility: social.Public, Whole: true, Version: 1}, "")
		}))
	}
	r := New(Config{Store: s, Near: nothing, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	r.Start(ctx)
	var last atomic.Int64
	b.SetParallelism(callers / 2)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			n := last.Add(1)
			key := social.LikeKey{Feed: social.FeedID(n%feeds + 1), Player: social.PlayerID(n/feeds + 1)}
			e := like(n, int64(key.Player))
			err := s.InTx(ctx, func(tx *sqlstore.Tx) error {
				if _, err := tx.PutLike(ctx, key, social.LikeID(n)); err != nil {
					return err
				}
				if _, err := tx.AddLikes(ctx, key.Feed, 1, n); err != nil || !event {
					return err
				}
				return tx.Append(ctx, e)
			})
			if err != nil {
				b.Error(err)
				return
			}
			if after != nil {
				after(r, ctx, e)
			}
		}
	})
	b.StopTimer()
	require.NoError(b, r.Stop(ctx))
}

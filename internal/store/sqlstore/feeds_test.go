package sqlstore_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
	"circle/internal/store/sqlstore"
)

// feed makes a feed whose text is its excerpt.
func (f fixture) feed(id social.FeedID, author social.PlayerID, visibility social.Visibility) {
	f.t.Helper()
	f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
		return tx.InsertFeed(ctx, social.Feed{ID: id, AuthorID: author, Visibility: visibility, Excerpt: "hi", Whole: true, Version: int64(id)}, "hi")
	})
}

func (f fixture) deleteFeed(id social.FeedID, version int64) {
	f.t.Helper()
	f.do(func(ctx context.Context, tx *sqlstore.Tx) error { return tx.MarkDeleted(ctx, id, version) })
}

// stored reads all that is known of a feed.
func (f fixture) stored(id social.FeedID) (head *social.Feed, body *social.FeedBody, counters *social.FeedCounters) {
	f.t.Helper()
	ctx, ids := f.t.Context(), []social.FeedID{id, id + 1}
	heads, err := f.Feeds().Load(ctx, ids)
	require.NoError(f.t, err)
	bodies, err := f.Bodies().Load(ctx, ids)
	require.NoError(f.t, err)
	counts, err := f.Counters().Load(ctx, ids)
	require.NoError(f.t, err)
	return heads[id], bodies[id], counts[id]
}

func TestTheLifeOfAFeed(t *testing.T) {
	long := strings.Repeat("长文 with 👍 and | signs\n", 2000)
	edited := time.Date(2026, 7, 8, 9, 10, 11, 123_999_999, time.UTC)
	cut := edited.Truncate(time.Millisecond)
	for _, c := range []struct {
		name          string
		content, next string
	}{{"short to long", "short", long}, {"long to short", long, "short"}, {"long to long", long, long + "!"}, {"short to short", "a", "b"}} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(f fixture) {
				excerpt := func(s string) (string, bool) { return s[:min(len(s), 24)], len(s) <= 24 }
				want := social.Feed{ID: 90, AuthorID: 3, Visibility: social.Friends, Version: 90}
				check := func(content string, likes int, version int64) {
					f.t.Helper()
					head, body, counters := f.stored(90)
					require.Equal(f.t, &want, head)
					if want.Whole {
						require.Nil(f.t, body)
					} else {
						require.Equal(f.t, &social.FeedBody{ID: 90, Content: content, Version: want.Version}, body)
					}
					require.Equal(f.t, &social.FeedCounters{
						FeedID: 90, AuthorID: 3, Visibility: social.Friends, Deleted: want.Deleted, Likes: likes, Version: version,
					}, counters)
				}
				want.Excerpt, want.Whole = excerpt(c.content)
				f.do(func(ctx context.Context, tx *sqlstore.Tx) error { return tx.InsertFeed(ctx, want, c.content) })
				check(c.content, 0, 90)

				want.Excerpt, want.Whole = excerpt(c.next)
				want.EditedAt, want.Version = &cut, 95
				f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
					locked, err := tx.LockFeed(ctx, 90)
					require.NoError(f.t, err)
					locked.Excerpt, locked.Whole, locked.EditedAt, locked.Version = want.Excerpt, want.Whole, &edited, 95
					return tx.SaveText(ctx, *locked, c.next)
				})
				check(c.next, 0, 90)

				f.deleteFeed(90, 93)
				want.Deleted, want.Excerpt, want.Whole, want.Version = true, "", true, 96
				check("", 0, 93)
				f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
					locked, err := tx.LockFeed(ctx, 90)
					require.Equal(f.t, &want, locked)
					return err
				})
			})
		})
	}
}

func TestATakenFeedIDIsTold(t *testing.T) {
	each(t, func(f fixture) {
		f.feed(90, 3, social.Public)
		err := f.InTx(f.t.Context(), func(tx *sqlstore.Tx) error {
			return tx.InsertFeed(f.t.Context(), social.Feed{ID: 90, AuthorID: 4, Visibility: social.Public, Whole: true}, "")
		})
		require.ErrorIs(f.t, err, social.ErrIDTaken)
		head, _, _ := f.stored(90)
		require.Equal(f.t, social.PlayerID(3), head.AuthorID)
	})
}

func TestAuthorFeeds(t *testing.T) {
	each(t, func(f fixture) {
		for i := range social.FeedID(8) {
			f.feed(100+i, 3, social.Visibility(1+i%4))
		}
		f.feed(200, 4, social.Public)
		f.deleteFeed(104, 300)
		ask := func(author social.PlayerID, below int64, limit int, of ...social.Visibility) social.AuthorFeedsAsk {
			return social.AuthorFeedsAsk{ListAsk: social.ListAsk[social.PlayerID]{Of: author, Below: below, Limit: limit}, Visibilities: of}
		}
		const top = social.MaxID + 1
		for _, c := range []struct {
			name string
			asks []social.AuthorFeedsAsk
			want [][]social.FeedID
		}{
			{"all visibilities", []social.AuthorFeedsAsk{ask(3, top, 99, social.Public, social.Fans, social.Friends, social.Private)},
				[][]social.FeedID{{107, 106, 105, 103, 102, 101, 100}}},
			{"public, without the deleted", []social.AuthorFeedsAsk{ask(3, top, 99, social.Public)}, [][]social.FeedID{{100}}},
			{"none", []social.AuthorFeedsAsk{ask(3, top, 99)}, [][]social.FeedID{{}}},
			{"a piece", []social.AuthorFeedsAsk{ask(3, 106, 2, social.Fans, social.Friends)}, [][]social.FeedID{{105, 102}}},
			{"several", []social.AuthorFeedsAsk{ask(4, top, 9, social.Public), ask(5, top, 9, social.Public), ask(3, top, 1, social.Private)},
				[][]social.FeedID{{200}, {}, {107}}},
		} {
			f.t.Run(c.name, func(t *testing.T) {
				before := f.statements.Load()
				lists, err := f.AuthorFeeds(t.Context(), c.asks)
				require.NoError(t, err)
				require.Equal(t, c.want, lists)
				require.Equal(t, int64(1), f.statements.Load()-before)
			})
		}
	})
}

package sqlstore_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
	"circle/internal/store/sqlstore"
)

// comment makes a comment and counts it, as the service does.
func (f fixture) comment(ctx context.Context, c social.Comment) (done bool, err error) {
	err = f.InTx(ctx, func(tx *sqlstore.Tx) error {
		if err := tx.InsertComment(ctx, c); err != nil {
			return err
		}
		heads := 1
		if !c.Head() {
			heads = 0
			if done, err = tx.AddReply(ctx, c.RootID, c.ReplyToID == c.RootID, int64(c.ID)); err != nil || !done {
				return err
			}
		}
		done, err = tx.AddComments(ctx, c.FeedID, 1, heads, int64(c.ID))
		return err
	})
	return done, err
}

func (f fixture) comments(ids ...social.CommentID) map[social.CommentID]*social.Comment {
	f.t.Helper()
	found, err := f.Comments().Load(f.t.Context(), ids)
	require.NoError(f.t, err)
	return found
}

func TestTheLifeOfAComment(t *testing.T) {
	each(t, func(f fixture) {
		ctx := f.t.Context()
		f.feed(10, 3, social.Public)
		head := social.Comment{ID: 100, FeedID: 10, AuthorID: 4, Content: strings.Repeat("👍", social.MaxCommentLength), Version: 100}
		answer := social.Comment{ID: 101, FeedID: 10, AuthorID: 5, RootID: 100, ReplyToID: 100, Content: "a\x00b", Version: 101}
		for _, c := range []social.Comment{head, answer} {
			done, err := f.comment(ctx, c)
			require.NoError(f.t, err)
			require.True(f.t, done)
		}
		head.ReplyCount, head.Version = 1, 101
		require.Equal(f.t, map[social.CommentID]*social.Comment{100: &head, 101: &answer}, f.comments(100, 101, 102))
		err := f.InTx(ctx, func(tx *sqlstore.Tx) error { return tx.InsertComment(ctx, head) })
		require.ErrorIs(f.t, err, social.ErrIDTaken)

		f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
			none, err := tx.LockComment(ctx, 999)
			require.NoError(f.t, err)
			require.Nil(f.t, none)
			c, err := tx.LockComment(ctx, 100)
			require.Equal(f.t, &head, c)
			require.NoError(f.t, err)
			c.Deleted, c.Content, c.AuthorID, c.Version = true, "", 0, 102
			head = *c
			return tx.SaveComment(ctx, *c)
		})
		require.Equal(f.t, &head, f.comments(100)[100])
		_, _, counters := f.stored(10)
		require.Equal(f.t, &social.FeedCounters{FeedID: 10, AuthorID: 3, Visibility: social.Public, Comments: 2, Heads: 1, Version: 101}, counters)
	})
}

func TestRepliesAndCountsRefuse(t *testing.T) {
	each(t, func(f fixture) {
		f.feed(10, 3, social.Public)
		f.feed(20, 3, social.Public)
		f.deleteFeed(20, 30)
		f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
			for _, c := range []social.Comment{
				{ID: 100, FeedID: 10, AuthorID: 4, Version: 100},
				{ID: 110, FeedID: 10, AuthorID: 4, Version: 110, Deleted: true, ReplyCount: 2},
				{ID: 120, FeedID: 10, AuthorID: 4, Version: 120, Deleted: true},
			} {
				if err := tx.InsertComment(ctx, c); err != nil {
					return err
				}
			}
			return nil
		})
		for _, c := range []struct {
			name  string
			head  social.CommentID
			whole bool
			did   bool
		}{
			{"an answer to the head", 100, true, true},
			{"an answer to an answer", 100, false, true},
			{"an answer to an emptied head", 110, true, false},
			{"an answer below an emptied head", 110, false, true},
			{"an answer below what is gone", 120, false, false},
			{"an answer to nothing", 999, true, false},
		} {
			f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
				did, err := tx.AddReply(ctx, c.head, c.whole, 200)
				require.Equal(f.t, c.did, did, c.name)
				return err
			})
		}
		require.Equal(f.t, 2, f.comments(100)[100].ReplyCount)
		for feed, want := range map[social.FeedID]bool{10: true, 20: false, 99: false} {
			f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
				did, err := tx.AddComments(ctx, feed, 1, 1, 300)
				require.Equal(f.t, want, did, int64(feed))
				return err
			})
		}
	})
}

func TestCommentLists(t *testing.T) {
	each(t, func(f fixture) {
		f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
			for _, c := range []social.Comment{
				{ID: 100, FeedID: 10}, {ID: 101, FeedID: 10, RootID: 100, ReplyToID: 100}, {ID: 102, FeedID: 10},
				{ID: 103, FeedID: 10, RootID: 100, ReplyToID: 101}, {ID: 104, FeedID: 11}, {ID: 105, FeedID: 10, Deleted: true},
				{ID: 106, FeedID: 10, Deleted: true, ReplyCount: 1}, {ID: 107, FeedID: 10, RootID: 106, Deleted: true, ReplyCount: 1},
			} {
				if err := tx.InsertComment(ctx, c); err != nil {
					return err
				}
			}
			return nil
		})
		heads, answers := social.Thread{Feed: 10}, social.Thread{Feed: 10, Head: 100}
		before := f.statements.Load()
		lists, err := f.CommentLists(f.t.Context(), 0, []social.ThreadAsk{
			{Thread: heads, Limit: 9}, {Thread: heads, After: 100, Limit: 1}, {Thread: answers, Limit: 9}, {Thread: answers, After: 103, Limit: 9},
			{Thread: social.Thread{Feed: 10, Head: 106}, Limit: 9}, {Thread: social.Thread{Feed: 99}, Limit: 9},
		})
		require.NoError(f.t, err)
		require.Equal(f.t, [][]social.CommentID{{100, 102, 106}, {102}, {101, 103}, {}, {}, {}}, lists)
		require.EqualValues(f.t, 1, f.statements.Load()-before)
	})
}

func TestManyAnswerOneHeadAtOnce(t *testing.T) {
	each(t, func(f fixture) {
		f.feed(10, 3, social.Public)
		_, err := f.comment(f.t.Context(), social.Comment{ID: 100, FeedID: 10, AuthorID: 4, Version: 100})
		require.NoError(f.t, err)
		done := f.parallel(100, func(ctx context.Context, i int) (bool, error) {
			id := social.CommentID(200 + i)
			return f.comment(ctx, social.Comment{ID: id, FeedID: 10, AuthorID: 5, RootID: 100, ReplyToID: 100, Content: "!", Version: int64(id)})
		})
		require.Equal(f.t, 100, done)
		require.Equal(f.t, 100, f.comments(100)[100].ReplyCount)
		_, _, counters := f.stored(10)
		require.Equal(f.t, []int{101, 1}, []int{counters.Comments, counters.Heads})
	})
}

package sqlstore_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
	"circle/internal/store/sqlstore"
)

func TestPulledAuthors(t *testing.T) {
	each(t, func(f fixture) {
		t, ctx := f.t, f.t.Context()
		require.NoError(t, f.WriteBatch(ctx, &social.Batch{Players: []social.BulkPlayer{
			{ID: 1, Name: "p1", NameKey: "p1", Version: 1, Counts: social.PlayerCounts{Fans: 3}},
			{ID: 2, Name: "p2", NameKey: "p2", Version: 1, Counts: social.PlayerCounts{Fans: 2}},
		}}))
		f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
			for _, edge := range []social.Edge{{Player: 9, Peer: 1, Following: 11}, {Player: 9, Peer: 2, Following: 12}, {Player: 8, Peer: 1, Fan: 13}} {
				if err := tx.SavePair(ctx, edge); err != nil {
					return err
				}
			}
			return nil
		})
		for _, c := range []struct {
			name   string
			author social.PlayerID
			feed   social.FeedID
			want   social.FeedID
		}{
			{"as many fans as may be", 2, 50, 0},
			{"nobody", 3, 50, 0},
			{"one more", 1, 50, 50},
			{"pulled already", 1, 40, 50},
		} {
			first, err := f.PullAbove(ctx, 2, c.author, c.feed)
			require.NoError(t, err)
			require.Equal(t, c.want, first, c.name)
			first, err = f.PulledFrom(ctx, c.author)
			require.NoError(t, err)
			require.Equal(t, c.want, first, c.name)
		}
		first, err := f.PullAbove(ctx, 1000, 1, 60)
		require.NoError(t, err)
		require.EqualValues(t, 50, first, "for good")
		for player, want := range map[social.PlayerID][]social.PlayerID{9: {1}, 8: nil, 1: nil} {
			authors, err := f.PulledOf(ctx, player, 10)
			require.NoError(t, err)
			require.Equal(t, want, authors)
		}
	})
}

func TestFeedsAbove(t *testing.T) {
	each(t, func(f fixture) {
		t, ctx := f.t, f.t.Context()
		f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
			for id, visibility := range map[social.FeedID]social.Visibility{
				11: social.Public, 12: social.Private, 13: social.Friends, 14: social.Fans, 15: social.Public,
			} {
				feed := social.Feed{ID: id, AuthorID: 1, Visibility: visibility, Whole: true, Version: int64(id)}
				if err := tx.InsertFeed(ctx, feed, ""); err != nil {
					return err
				}
			}
			return tx.MarkDeleted(ctx, 15, 16)
		})
		found, err := f.FeedsAbove(ctx, []social.AboveAsk{{ID: 1, Above: 11, Limit: 9}, {ID: 2, Above: 0, Limit: 9}, {ID: 1, Above: 0, Limit: 1}})
		require.NoError(t, err)
		require.Equal(t, [][]social.FeedID{{14, 13}, {}, {14}}, found)
		found, err = f.FeedsAbove(ctx, nil)
		require.NoError(t, err)
		require.Empty(t, found)
	})
}

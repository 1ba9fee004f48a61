package sqlstore_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
	"circle/internal/store/sqlstore"
)

func TestReports(t *testing.T) {
	each(t, func(f fixture) {
		ctx := f.t.Context()
		feed := social.Target{Kind: social.TargetFeed, ID: 10}
		insert := func(r social.Report) {
			f.do(func(ctx context.Context, tx *sqlstore.Tx) error { return tx.InsertReport(ctx, r) })
		}
		first := social.Report{ID: 100, Reporter: 1, Target: feed, Reason: "first"}
		insert(first)
		insert(social.Report{ID: 101, Reporter: 1, Target: feed, Reason: "again, while the first is open"})
		other := social.Report{ID: 102, Reporter: 2, Target: feed, Reason: "by another"}
		insert(other)
		comment := social.Report{ID: 103, Reporter: 1, Target: social.Target{Kind: social.TargetComment, ID: 10}, Reason: "another thing"}
		insert(comment)
		reports, err := f.Reports(ctx, social.MaxID, 9)
		require.NoError(f.t, err)
		require.Equal(f.t, []*social.Report{&comment, &other, &first}, reports)
		reports, err = f.Reports(ctx, 103, 1)
		require.NoError(f.t, err)
		require.Equal(f.t, []*social.Report{&other}, reports)

		for range 2 {
			f.do(func(ctx context.Context, tx *sqlstore.Tx) error { return tx.CloseReport(ctx, 100, 7) })
		}
		insert(social.Report{ID: 104, Reporter: 1, Target: feed, Reason: "after the first was closed"})
		found, err := f.ReportsByIDs(ctx, []social.ReportID{100, 101, 104})
		require.NoError(f.t, err)
		require.Len(f.t, found, 2)
		require.True(f.t, found[100].Resolved)
		require.False(f.t, found[104].Resolved)
	})
}

func TestSetHidden(t *testing.T) {
	each(t, func(f fixture) {
		f.feed(10, 3, social.Public)
		for i, hidden := range []bool{true, false} {
			version := int64(20 + i)
			f.do(func(ctx context.Context, tx *sqlstore.Tx) error { return tx.SetHidden(ctx, 10, hidden, version) })
			head, _, counters := f.stored(10)
			require.Equal(f.t, []any{hidden, version}, []any{head.Hidden, head.Version})
			require.Equal(f.t, []any{hidden, version}, []any{counters.Hidden, counters.Version})
			asks := []social.AuthorFeedsAsk{{ListAsk: social.ListAsk[social.PlayerID]{Of: 3, Below: social.MaxID, Limit: 9}, Visibilities: social.Visibilities()}}
			lists, err := f.AuthorFeeds(f.t.Context(), asks)
			require.NoError(f.t, err)
			require.Equal(f.t, hidden, len(lists[0]) == 0)
			asks[0].Hidden = true
			lists, err = f.AuthorFeeds(f.t.Context(), asks)
			require.NoError(f.t, err)
			require.Len(f.t, lists[0], 1)
		}
	})
}

package sqlstore_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
	"circle/internal/store/sqlstore"
)

func TestFansOf(t *testing.T) {
	each(t, func(f fixture) {
		f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
			// Of 2 to 9 the even ones follow player 1, who follows all below 6; 10 is followed by 1 alone.
			for i := social.PlayerID(2); i <= 9; i++ {
				edge := social.Edge{Player: 1, Peer: i}
				if i%2 == 0 {
					edge.Fan = social.EdgeID(1000 - i)
				}
				if i < 6 {
					edge.Following = social.EdgeID(1000 + i)
				}
				if err := tx.SavePair(ctx, edge); err != nil {
					return err
				}
			}
			return tx.SavePair(ctx, social.Edge{Player: 1, Peer: 10, Following: 3000})
		})
		for _, c := range []struct {
			name          string
			author, after social.PlayerID
			limit         int
			want          []social.PlayerID
		}{
			{"all, by id", 1, 0, 10, []social.PlayerID{2, 4, 6, 8}},
			{"a chunk", 1, 0, 2, []social.PlayerID{2, 4}},
			{"the next one", 1, 4, 2, []social.PlayerID{6, 8}},
			{"behind the last", 1, 8, 2, []social.PlayerID{}},
			{"behind one who is no fan", 1, 5, 1, []social.PlayerID{6}},
			{"followed back", 4, 0, 2, []social.PlayerID{1}},
			{"nobody's", 99, 0, 2, []social.PlayerID{}},
		} {
			f.t.Run(c.name, func(t *testing.T) {
				fans, err := f.FansOf(t.Context(), c.author, c.after, c.limit)
				require.NoError(t, err)
				require.Equal(t, c.want, fans)
			})
		}
	})
}

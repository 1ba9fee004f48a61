package sqlstore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/social"
	"circle/internal/store/sqlstore"
)

func remembered(key string, result int64) social.Remembered {
	return social.Remembered{
		Player: 5, Operation: "createFeed", Key: key, Hash: [32]byte{1, 2, 31: byte(result)}, Result: result, At: begin.UTC(),
	}
}

func TestRememberFindsExactlyWhatWasNoted(t *testing.T) {
	each(t, func(f fixture) {
		first := remembered("key 👍", 7)
		note := func(r social.Remembered) (noted social.Remembered, found bool) {
			f.do(func(ctx context.Context, tx *sqlstore.Tx) (err error) {
				noted, found, err = tx.Remember(ctx, r)
				return err
			})
			return noted, found
		}
		noted, found := note(first)
		require.False(f.t, found)
		require.Equal(f.t, first, noted)
		noted, found = note(remembered("key 👍", 8))
		require.True(f.t, found)
		require.Equal(f.t, first, noted)
		for name, other := range map[string]social.Remembered{
			"another key in other case": remembered("KEY 👍", 9), "a longer key": remembered("key 👍 ", 10), "another emoji": remembered("key 🎉", 11),
			"another player":    {Player: 6, Operation: "createFeed", Key: "key 👍", At: begin},
			"another operation": {Player: 5, Operation: "likeFeed", Key: "key 👍", At: begin},
		} {
			_, found = note(other)
			require.False(f.t, found, name)
		}
	})
}

func TestCallersAtOnceGetTheFirstOnesResult(t *testing.T) {
	each(t, func(f fixture) {
		for round, key := range []string{"a", "b", "c"} {
			results := make([]int64, 50)
			fresh := f.parallel(len(results), func(ctx context.Context, i int) (fresh bool, err error) {
				err = f.InTx(ctx, func(tx *sqlstore.Tx) error {
					noted, found, err := tx.Remember(ctx, remembered(key, int64(100*round+i)))
					fresh, results[i] = !found, noted.Result
					return err
				})
				return fresh, err
			})
			require.Equal(f.t, 1, fresh)
			for _, result := range results {
				require.Equal(f.t, results[0], result)
			}
		}
	})
}

func TestTheSecondCallerGetsWhatTheFirstLeft(t *testing.T) {
	undone := errors.New("undone")
	for _, c := range []struct {
		name  string
		first error
		found bool
	}{{"that commits", nil, true}, {"that rolls back", undone, false}} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(f fixture) {
				ctx := f.t.Context()
				second := make(chan bool, 1)
				err := f.InTx(ctx, func(tx *sqlstore.Tx) error {
					if _, _, err := tx.Remember(ctx, remembered("key", 1)); err != nil {
						return err
					}
					go func() {
						var noted social.Remembered
						var found bool
						assert.NoError(f.t, f.InTx(ctx, func(tx *sqlstore.Tx) (err error) {
							noted, found, err = tx.Remember(ctx, remembered("key", 2))
							return err
						}))
						assert.Equal(f.t, map[bool]int64{true: 1, false: 2}[c.found], noted.Result)
						second <- found
					}()
					return c.first
				})
				require.ErrorIs(f.t, err, c.first)
				require.Equal(f.t, c.found, <-second)
			})
		})
	}
}

func TestPurgeIdempotency(t *testing.T) {
	each(t, func(f fixture) {
		ctx := f.t.Context()
		f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
			for i := range 10 {
				r := remembered(string(rune('a'+i)), int64(i+1))
				r.At = begin.Add(time.Duration(i) * time.Hour)
				if _, _, err := tx.Remember(ctx, r); err != nil {
					return err
				}
			}
			return nil
		})
		var gone []int
		for {
			n, err := f.PurgeIdempotency(ctx, begin.Add(7*time.Hour), 3)
			require.NoError(f.t, err)
			if n == 0 {
				break
			}
			gone = append(gone, n)
		}
		require.Equal(f.t, []int{3, 3, 1}, gone)
		f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
			_, found, err := tx.Remember(ctx, remembered("h", 99))
			require.True(f.t, found, "what is not older stays")
			require.NoError(f.t, err)
			_, found, err = tx.Remember(ctx, remembered("g", 99))
			require.False(f.t, found)
			return err
		})
	})
}

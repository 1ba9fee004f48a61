package redisstore

import (
	"context"
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

// forgetful loses scripts between the trip that loads them and the next, a number of times.
type forgetful struct {
	*tripCounter
	times *int
}

type noScript struct{ error }

func (noScript) RedisError() {}

func (f forgetful) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if *f.times == 0 {
			return next(ctx, cmds)
		}
		*f.times--
		lost := noScript{errors.New("NOSCRIPT No matching script. Please use EVAL.")}
		for _, cmd := range cmds {
			cmd.SetErr(lost)
		}
		return lost
	}
}

func TestAScriptThatIsRefusedTwiceIsAnError(t *testing.T) {
	everywhere(t, func(t *testing.T, f fixture) {
		times := 0
		config := f.config
		config.Hooks = []redis.Hook{forgetful{f.trips, &times}}
		w := open(t, config).Timelines()
		for _, c := range []struct {
			name string
			do   func() error
		}{
			{"a write", func() error {
				return w.Merge(t.Context(), 7, []social.Entry{{Member: 1, Key: 1}})
			}},
			{"a read", func() error {
				_, err := w.Read(t.Context(), []social.WindowAsk{{ID: 7, After: social.MaxID, Limit: 1}})
				return err
			}},
		} {
			t.Run(c.name, func(t *testing.T) {
				times = 1
				require.NoError(t, c.do(), "once it is loaded and run again")
				times = 2
				require.Equal(t, social.CodeUnavailable, social.CodeOf(c.do()))
				require.NoError(t, c.do())
			})
		}
	})
}

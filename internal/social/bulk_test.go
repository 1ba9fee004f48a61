package social_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"circle/internal/social"
)

func TestIDRun(t *testing.T) {
	const other = 13<<12 | 29<<7 | 5
	at := social.Epoch.Add(time.Hour)
	run := social.IDRunAt(at, other)
	assert.Equal(t, social.IDAt(at)|29<<7, run.At(0))
	assert.Equal(t, social.IDAt(at.Add(time.Millisecond))|29<<7|1, run.At(129))
	assert.Equal(t, at.Add(time.Second), social.FeedID(run.At(social.IDRunLength(time.Second))).Time())
	assert.False(t, run.Made(social.IDAt(at)|28<<7))
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, 1<<40).Draw(t, "n")
		assert.Less(t, run.At(n), run.At(n+1))
		assert.True(t, run.Made(run.At(n)))
		assert.LessOrEqual(t, run.At(n), int64(social.MaxID))
	})
}

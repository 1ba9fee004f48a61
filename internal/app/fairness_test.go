package app_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"circle/internal/importer"
	"circle/internal/testkit"
)

// TestAnAuthorWithManyFansHoldsUpNobody has an author with 10,000 fans post much, and one with 5 fans post
// then: those see it before the first one's feeds are with all.
func TestAnAuthorWithManyFansHoldsUpNobody(t *testing.T) {
	fans, feeds := 10_000, 12
	if testing.Short() {
		fans = 3000
	}
	app := testkit.Start(t, testkit.NewStores(t))
	big, _ := app.SeedHot(t, importer.SeedConfig{
		Players: fans + 10, Feeds: 1, Seed: 7, MaxFollows: 1, FollowLimit: fans, Hot: &importer.Hot{Friends: fans},
	})
	small := app.SignUp(t, "small")
	var five []home
	few := app.SignUpAll(t, "fan", 5)
	for _, fan := range few {
		testkit.Must(t)(fan.Follow(small))
		five = append(five, listen(t, fan, nil))
	}
	testkit.Quiet(t, app)
	for range feeds {
		big.MustPost(t, "to many", "PUBLIC")
	}
	feed := small.MustPost(t, "to few", "FANS")
	for i, fan := range five {
		fan.comes(t, few[i], feed) // what made the population has raised the epochs, which may bring a gap now
	}
	left, err := app.Outbox(t.Context())
	require.NoError(t, err)
	require.Positive(t, left.Far, "the many still wait")
	require.Eventually(t, func() bool {
		left, err = app.Outbox(t.Context())
		return err == nil && left.Near+left.Far == 0
	}, 60*time.Second, 10*time.Millisecond)
}

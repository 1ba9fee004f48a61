package app_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"circle/internal/testkit"
)

// TestMetricsTellHowHomePagesFare has one read that falls back, one window built, one push to it that is
// told to a listener, and a page from which entries are dropped.
func TestMetricsTellHowHomePagesFare(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	author, fan := app.SignUp(t, "author"), app.SignUp(t, "fan")
	testkit.Must(t)(fan.Follow(author))
	fan.Home(t, 10)
	require.EqualValues(t, 1, app.Metric(t, `circle_home_fallbacks_total{why="lacking"}`))
	require.Eventually(t, func() bool {
		return app.Metric(t, `circle_windows_built_total{kind="timeline"}`) == 1
	}, 10*time.Second, 5*time.Millisecond)
	live := listen(t, fan, nil)
	seen := author.MustPost(t, "for fans", "FANS")
	live.added(t, seen)
	for range 3 {
		author.MustPost(t, "for friends", "FRIENDS")
	}
	testkit.Quiet(t, app)
	require.EqualValues(t, 4, app.Metric(t, "circle_fanout_pushes_total"))
	require.EqualValues(t, 4, app.Metric(t, "circle_live_log_appends_total"))
	require.EqualValues(t, 4, app.Metric(t, "circle_outbox_far_lag_seconds_count"))
	require.Zero(t, app.Metric(t, "circle_home_refills_total"))
	require.Equal(t, []string{seen}, fan.Home(t, 1))
	require.EqualValues(t, 1, app.Metric(t, "circle_home_refills_total"))
	require.Zero(t, app.Metric(t, `circle_home_fallbacks_total{why="beyond"}`))
}

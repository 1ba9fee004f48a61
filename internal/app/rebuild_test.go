package app_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/social"
	"circle/internal/store/sqlstore"
	"circle/internal/testkit"
)

// behindTheBack changes rows without an event, so that no index hears of it.
func behindTheBack(t *testing.T, stores testkit.Stores, change func(tx *sqlstore.Tx) error) {
	t.Helper()
	url := stores.DatabaseURL
	if url == "" {
		url = "sqlite://" + filepath.Join(stores.DataDir, "circle.db")
	}
	store, err := sqlstore.Open(t.Context(), sqlstore.Config{URL: url})
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	require.NoError(t, store.InTx(t.Context(), change))
}

func playerID(t *testing.T, p testkit.Player) social.PlayerID {
	t.Helper()
	id, err := social.ParsePlayerID(p.ID)
	require.NoError(t, err)
	return id
}

// warm waits until the player's home page comes from the timeline.
func warm(t *testing.T, p testkit.Player) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, sql := quietest(p.App, func() { p.Home(t, 50) })
		return sql == 0
	}, 10*time.Second, 10*time.Millisecond)
}

func TestTimelinesThatAreWrongAreFoundAndRebuilt(t *testing.T) {
	stores := testkit.NewStores(t)
	server := testkit.Start(t, stores)
	author, fan, idle := server.SignUp(t, "author"), server.SignUp(t, "fan"), server.SignUp(t, "idle")
	testkit.Must(t)(fan.Follow(author))
	gone, kept, secret := author.MustPost(t, "gone", "PUBLIC"), author.MustPost(t, "kept", "FANS"), author.MustPost(t, "secret", "PRIVATE")
	testkit.Quiet(t, server)
	warm(t, fan)
	last, err := social.ParseFeedID(kept)
	require.NoError(t, err)
	lost := social.FeedID(int64(last) - 1)
	behindTheBack(t, stores, func(tx *sqlstore.Tx) error {
		first, err := social.ParseFeedID(gone)
		if err != nil {
			return err
		}
		if err := tx.MarkDeleted(t.Context(), first, int64(last)); err != nil {
			return err
		}
		return tx.InsertFeed(t.Context(), social.Feed{
			ID: lost, AuthorID: playerID(t, author), Visibility: social.Public, Excerpt: "lost", Whole: true, Version: int64(lost),
		}, "lost")
	})
	c, out := commands(t, stores)
	says := func(run error) string {
		t.Helper()
		require.NoError(t, run)
		defer out.Reset()
		return out.String()
	}
	home := func() []string { return fan.Home(t, 50) }
	assert.NotContains(t, home(), lost.String())

	text := says(c.CompareTimelines(t.Context(), ""))
	if stores.Embedded() {
		assert.Contains(t, text, "timelines of 3 players")
		assert.Contains(t, text, "out of this command's reach")
	} else {
		assert.Contains(t, text, "fan (player_")
		assert.Contains(t, text, "): 1 missing, 1 too much\n")
		assert.Contains(t, text, "1 timelines are there, 1 differ: 1 members missing, 1 too much\n")
	}
	timeline := func(embedded, otherwise string) string {
		if stores.Embedded() {
			return embedded
		}
		return otherwise
	}
	for _, e := range []struct{ name, player, feed, line, verdict string }{
		{"lost", "fan", lost.String(), "timeline", timeline("not asked", "does not hold it")},
		{"there", fan.ID, kept, "verdict", "on the home page"},
		{"a fan, not a friend", "fan", kept, "relation", "who does not follow back: not friends"},
		{"by a timeline that is not there", "author", kept, "timeline", timeline("not asked", "not there")},
		{"the player's own", "author", secret, "relation", "the player's own"},
		{"private", "fan", secret, "verdict", "not on the home page: fan (" + fan.ID + ") may not see it"},
		{"not followed", "idle", kept, "verdict", "not on the home page: idle (" + idle.ID + ") does not follow author"},
		{"deleted", "fan", gone, "verdict", "not on the home page: it is deleted"},
	} {
		t.Run(e.name, func(t *testing.T) {
			assert.Regexp(t, "(?m)^"+e.line+" .*"+strings.NewReplacer("(", `\(`, ")", `\)`).Replace(e.verdict), says(c.Explain(t.Context(), e.player, e.feed)))
		})
	}
	require.ErrorContains(t, c.Explain(t.Context(), "nobody", kept), "no player")
	require.ErrorContains(t, c.Explain(t.Context(), "fan", "no feed"), "nothing was imported")
	require.ErrorContains(t, c.Explain(t.Context(), "fan", social.FeedID(1).String()), "no feed")

	assert.Contains(t, says(c.RebuildTimelines(t.Context(), "idle")), "of 1 players")
	testkit.Quiet(t, server)
	assert.NotContains(t, home(), lost.String(), "of somebody else nothing changes")
	assert.Contains(t, says(c.RebuildTimelines(t.Context(), "")), "of 3 players")
	testkit.Quiet(t, server)
	assert.Equal(t, []string{kept, lost.String()}, home())
	warm(t, fan)
	assert.Equal(t, []string{kept, lost.String()}, home())
	if !stores.Embedded() {
		assert.Equal(t, "1 timelines are there, 0 differ: 0 members missing, 0 too much\n", says(c.CompareTimelines(t.Context(), "")))
		assert.Contains(t, says(c.Explain(t.Context(), "idle", kept)), "not there", "what is absent stays so")
	}
}

func TestTimelinesAreRebuiltAmidReadersAndWriters(t *testing.T) {
	server := testkit.Start(t, testkit.NewStores(t))
	author, other, fan := server.SignUp(t, "author"), server.SignUp(t, "other"), server.SignUp(t, "fan")
	testkit.Must(t)(fan.Follow(author))
	first := author.MustPost(t, "first", "PUBLIC")
	theirs := other.MustPost(t, "theirs", "PUBLIC")
	testkit.Quiet(t, server)
	warm(t, fan)

	var writing, others sync.WaitGroup
	wrote := make(chan struct{})
	want := []string{theirs, first}
	writing.Go(func() {
		for i := range 20 {
			r, err := author.Create(testkit.Vars{"content": fmt.Sprint(i), "visibility": "FANS"})
			if assert.NoError(t, err) && i%3 == 0 {
				_, err = author.Delete(r.Feed.ID)
				assert.NoError(t, err)
				continue
			}
			want = append([]string{r.Feed.ID}, want...)
		}
	})
	writing.Go(func() {
		for range 8 {
			for _, do := range []func(testkit.Player) (testkit.Payload, error){fan.Follow, fan.Unfollow} {
				_, err := do(other)
				assert.NoError(t, err)
			}
		}
		_, err := fan.Follow(other)
		assert.NoError(t, err)
	})
	until := func(do func()) {
		others.Go(func() {
			for {
				select {
				case <-wrote:
					return
				default:
					do()
				}
			}
		})
	}
	until(func() {
		assert.NoError(t, server.Services.Indexes.RebuildTimelines(t.Context(), []social.PlayerID{playerID(t, fan), playerID(t, author)}))
	})
	until(func() { assert.Contains(t, fan.Home(t, 50), first) })
	writing.Wait()
	close(wrote)
	others.Wait()
	testkit.Quiet(t, server)
	for range 3 {
		assert.Equal(t, want, fan.Home(t, 50))
		warm(t, fan)
	}
}

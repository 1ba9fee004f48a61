package fanout

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"circle/internal/live"
	"circle/internal/social"
	"circle/internal/store/redisstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// everyFeed is there and is what it was made as; all authors have the same fans.
type everyFeed struct {
	logs *redisstore.Logs
	fans []social.PlayerID
}

// feedsPerAuthor is how far apart the ids of the feeds of two authors begin.
const feedsPerAuthor = 1000

func (everyFeed) Load(_ context.Context, ids []social.FeedID) (map[social.FeedID]*social.Feed, error) {
	id := ids[0]
	head := &social.Feed{ID: id, AuthorID: social.PlayerID(id / feedsPerAuthor), Visibility: social.Public, Version: int64(id)}
	return map[social.FeedID]*social.Feed{id: head}, nil
}

func (f everyFeed) FansOf(_ context.Context, _, after social.PlayerID, _ int) ([]social.PlayerID, error) {
	if after != 0 {
		return nil, nil
	}
	return f.fans, nil
}

func (f everyFeed) Push(ctx context.Context, players []social.PlayerID, entry social.LiveEntry, _ bool) error {
	logs := make([]social.LogID, len(players))
	for i, player := range players {
		logs[i] = homeOf(player)
	}
	_, err := f.logs.Append(ctx, logs, entry)
	return err
}

func homeOf(player social.PlayerID) social.LogID {
	return social.LogID{Kind: social.LogHome, Of: int64(player)}
}

// pushedAlone has no pulled authors.
type pushedAlone struct{ Pulled }

func (pushedAlone) PullAbove(context.Context, int, social.PlayerID, social.FeedID) (social.FeedID, error) {
	return 0, nil
}

func (pushedAlone) PulledFrom(context.Context, social.PlayerID) (social.FeedID, error) { return 0, nil }

// TestDoubledAndShuffledEventsAreDeliveredOnce runs far stages as the outbox may: those of one author in
// order, of several at once, and three of ten a second time, at any time later.
func TestDoubledAndShuffledEventsAreDeliveredOnce(t *testing.T) {
	const authors, feeds = 5, 40
	cfg := redisstore.Config{URLs: redisstore.OneURL(os.Getenv("CIRCLE_TEST_REDIS_URL"))}
	if cfg.URLs[redisstore.Feed] == "" {
		embedded, err := redisstore.StartEmbedded(t.Context())
		require.NoError(t, err)
		defer embedded.Close()
		cfg = redisstore.Config{URLs: redisstore.OneURL(embedded.URL()), Plain: true}
	}
	store, err := redisstore.Open(t.Context(), cfg)
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	hub := live.New(live.Config{Logs: store.Logs(), Notices: store.Notices(), Log: slog.New(slog.DiscardHandler)})
	hub.Start(context.Background())
	defer func() { require.NoError(t, hub.Stop(context.Background())) }()

	first := rand.Int64N(1 << 40)
	circle := everyFeed{logs: store.Logs(), fans: []social.PlayerID{social.PlayerID(first), social.PlayerID(first + 1)}}
	far := &FeedFar{Heads: circle, Fans: circle, Pusher: circle, Logs: &logs{}, Pulled: pushedAlone{}}
	run := func(author, n int) {
		id := first*feedsPerAuthor + int64(author*feedsPerAuthor+n)
		event := social.Event{Kind: social.EventFeed, Actor: social.PlayerID(id / feedsPerAuthor), Subject: id, Object: id}
		// A store that is away for a moment has the stage run again, as the outbox does.
		assert.Eventually(t, func() bool { return far.Far(context.Background(), event, nil, unsaved) == nil }, time.Minute, 10*time.Millisecond)
	}

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var working sync.WaitGroup
	for _, fan := range circle.fans {
		next, err := hub.Subscribe(ctx, homeOf(fan), nil)
		require.NoError(t, err)
		working.Go(func() {
			_, err := next(ctx)
			assert.NoError(t, err)
			seen := [authors]int{}
			for range authors * feeds {
				item, err := next(ctx)
				if !assert.NoError(t, err) {
					return
				}
				n := int(item.Entry.ID - first*feedsPerAuthor)
				assert.Equal(t, seen[n/feedsPerAuthor], n%feedsPerAuthor, "each feed once, each author's in order")
				seen[n/feedsPerAuthor]++
			}
		})
	}
	for author := range authors {
		working.Go(func() {
			for n := range feeds {
				run(author, n)
				if rand.IntN(10) < 3 {
					late := rand.IntN(n + 1)
					working.Go(func() { run(author, late) })
				}
			}
		})
	}
	working.Wait()
}

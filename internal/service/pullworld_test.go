package service

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"circle/internal/fanout"
	"circle/internal/social"
	"circle/internal/store/redisstore"
	"circle/internal/store/sqlstore"
)

// pushLimit is above how many fans authors are pulled in a pullWorld.
const pushLimit = 2

// testingT is what testing and rapid have in common.
type testingT interface {
	require.TestingT
	Context() context.Context
}

// pullWorld is the services on real stores with a clock of their own. What follows from mutations is run by
// the test: near stages inline, far stages and builds when it says so. So each step can be met by others.
type pullWorld struct {
	*Services
	t     testingT
	store *sqlstore.Store
	cache *redisstore.Store
	near  *fanout.Near
	far   *fanout.FeedFar
	ids   *social.IDSource
	clock time.Time
	next  social.PlayerID
	epoch uint32
	// undone are the events whose far stage is to be run, done those whose far stage was.
	undone, done []social.Event
	// meet is called once, at the step whose number is at.
	steps, at int
	meet      func()
	counts    counts
}

func newPullWorld(t *testing.T, url string) *pullWorld {
	w := &pullWorld{t: t, clock: time.Now(), next: social.PlayerID(rand.Int64N(1 << 40)), epoch: 1}
	now := func() time.Time { return w.clock }
	ticking := func() time.Time { // so that no id waits for the clock
		w.clock = w.clock.Add(time.Millisecond)
		return w.clock
	}
	w.ids = social.NewIDSource(0, ticking, w.clock.Add(-time.Second), w.clock.Add(time.Hour*1000))
	var err error
	w.store, err = sqlstore.Open(t.Context(), sqlstore.Config{URL: url, Now: now})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.store.Close()) })
	require.NoError(t, w.store.Migrate(t.Context()))
	cfg := redisstore.Config{URLs: redisstore.OneURL(os.Getenv("CIRCLE_TEST_REDIS_URL")), Timeout: 10 * time.Second}
	if cfg.URLs[redisstore.Feed] == "" {
		embedded, err := redisstore.StartEmbedded(t.Context())
		require.NoError(t, err)
		t.Cleanup(embedded.Close)
		cfg.URLs, cfg.Plain = redisstore.OneURL(embedded.URL()), true
	}
	w.cache, err = redisstore.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.cache.Close()) })
	w.setEpoch(1)
	w.serve(now)
	return w
}

func (w *pullWorld) setEpoch(epoch uint32) {
	for _, role := range redisstore.Roles() {
		w.cache.SetEpochs(map[string]uint32{string(role): epoch})
	}
	w.epoch = epoch
}

func (w *pullWorld) serve(now func() time.Time) {
	c, s := w.cache, w.store
	w.Services = New(Deps{
		Store: txs{s}, Lists: s, Sources: metStore{s, w}, Near: w, IDs: w.ids, Now: now, Log: slog.New(slog.DiscardHandler),
		Truths:  Truths{Players: s.Players(), Details: s.Details(), Feeds: s.Feeds(), Bodies: s.Bodies(), Counters: s.Counters()},
		Caches:  Caches{Players: c.Players(), Details: c.Details(), Feeds: c.Feeds(), Bodies: c.Bodies(), Counters: c.Counters(), Pages: c},
		Observe: &w.counts,
		Windows: Windows{
			Timelines: metWindow{c.Timelines(), w}, Homes: metHomes{c.Homes(), w}, Pulls: metWindow{c.Pulls(), w},
			Profiles: metWindow{c.Profiles(), w}, Liked: c.Liked(), Likes: c.Likes(), Following: c.Following(), Fans: c.Fans(), Friends: c.Friends(),
			Blocked: c.Blocked(), Blockers: c.Blockers(), Muted: c.Muted(),
		},
		FollowLimit: 1000, FallbackReads: 8,
	})
	e := w.Entities
	w.near = &fanout.Near{Lists: w.Indexes, Simple: e.Players, Details: e.Details, Heads: e.Feeds, Bodies: e.Bodies, Counters: e.Counters, Logs: c.Logs()}
	pulls := worldPulls{s, w}
	w.far = &fanout.FeedFar{Heads: s.Feeds(), Fans: pulls, Pusher: w, Logs: c.Logs(), Pulled: pulls, Limit: pushLimit}
}

// RunInline implements Near.
func (w *pullWorld) RunInline(ctx context.Context, events []social.Event) {
	require.NoError(w.t, w.near.Near(ctx, events))
	for _, e := range events {
		if e.Kind == social.EventFeed {
			w.undone = append(w.undone, e)
		}
	}
}

// Push implements fanout.Pusher.
func (w *pullWorld) Push(ctx context.Context, players []social.PlayerID, entry social.LiveEntry, _ bool) error {
	lists := make([]int64, len(players))
	for i, p := range players {
		lists[i] = int64(p)
	}
	if entry.Kind == social.LiveFeedRemoved {
		return nil
	}
	return metWindow{w.cache.Timelines(), w}.Push(ctx, lists, social.Entry{Member: entry.ID, Key: entry.ID})
}

// fanOut runs the far stages that are to be run, and some of those that were again.
func (w *pullWorld) fanOut() {
	run := func(e social.Event) {
		require.NoError(w.t, w.far.Far(w.t.Context(), e, nil, func(context.Context, []byte) error { return nil }))
	}
	for len(w.undone) > 0 {
		e := w.undone[0]
		w.undone, w.done = w.undone[1:], append(w.done, e)
		run(e)
		run(w.done[len(w.done)/2])
	}
}

// build runs all builds that are wanted.
func (w *pullWorld) build() {
	b := w.Home.lists.builder
	for {
		select {
		case next := <-b.queue:
			delete(b.going, next.key)
			_, err := next.run(w.t.Context())
			require.NoError(w.t, err)
		default:
			return
		}
	}
}

// player makes one.
func (w *pullWorld) player() social.Viewer {
	w.next++
	name := "p" + strconv.FormatInt(int64(w.next), 10)
	require.NoError(w.t, w.store.WriteBatch(w.t.Context(), &social.Batch{Players: []social.BulkPlayer{
		{ID: w.next, Name: name, NameKey: name, JoinedAt: w.clock, Version: 1},
	}}))
	return social.Viewer{Player: w.next}
}

func (w *pullWorld) post(author social.Viewer) social.FeedID {
	feed, err := w.Feeds.Create(w.t.Context(), author, NewFeed{Content: "hello", Visibility: social.Public})
	require.NoError(w.t, err)
	return feed.ID
}

// postLate commits a feed whose id was drawn before.
func (w *pullWorld) postLate(author social.Viewer, id social.FeedID) {
	require.NoError(w.t, w.Feeds.do(w.t.Context(), func(tx Tx) error {
		feed := social.Feed{ID: id, AuthorID: author.Player, Visibility: social.Public, Whole: true, Version: int64(id)}
		if err := tx.InsertFeed(w.t.Context(), feed, ""); err != nil {
			return err
		}
		return w.Feeds.wrote(w.t.Context(), tx, id, author.Player, 1, int64(id))
	}))
}

func (w *pullWorld) follow(fan, author social.Viewer) {
	require.NoError(w.t, w.Relations.Follow(w.t.Context(), fan, author.Player))
}

func (w *pullWorld) unfollow(fan, author social.Viewer) {
	require.NoError(w.t, w.Relations.Unfollow(w.t.Context(), fan, author.Player))
}

// home reads a home page in pages of a size.
func (w *pullWorld) home(viewer social.Viewer, first int) []social.FeedID {
	ids := []social.FeedID{}
	args := social.PageArgs{First: first}
	for {
		page, err := w.Home.Page(w.t.Context(), viewer, args)
		require.NoError(w.t, err)
		for _, e := range page.Items {
			ids = append(ids, e.Feed.ID)
		}
		if !page.HasNext {
			return ids
		}
		args.After = &social.Position{Key: int64(ids[len(ids)-1])}
	}
}

// check compares a home page with its definition, whatever it is read from first, and then from the timeline.
func (w *pullWorld) check(viewer social.Viewer) {
	for i, first := range []int{100, 1, 3} {
		w.counts.without = 0
		want, err := w.store.HomeFeeds(w.t.Context(), viewer, social.MaxID+1, 10_000)
		require.NoError(w.t, err)
		require.Equal(w.t, append([]social.FeedID{}, want...), w.home(viewer, first), "in pages of %d", first)
		w.build()
		require.True(w.t, i == 0 || w.counts.without == 0, "a timeline is there")
	}
}

// met is called at each step.
func (w *pullWorld) met() {
	if w.meet == nil {
		return
	}
	w.steps++
	if meet := w.meet; w.steps == w.at {
		w.meet = nil
		meet()
	}
}

// counts counts what is observed of pulled authors.
type counts struct{ pulls, asks, lacking, without int }

func (*counts) HomeRefilled() {}
func (c *counts) HomeFellBack(lacking bool) {
	if lacking {
		c.without++
	}
}

func (*counts) WindowBuilt(string) {}

func (c *counts) HomePulled() { c.pulls++ }

func (c *counts) HomeAskedPulled(lacking int) {
	c.asks++
	c.lacking += lacking
}

type txs struct{ *sqlstore.Store }

func (t txs) InTx(ctx context.Context, fn func(tx Tx) error) error {
	return t.Store.InTx(ctx, func(tx *sqlstore.Tx) error { return fn(tx) })
}

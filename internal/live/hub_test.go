package live

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

func TestASubscriptionDeliversWhatComes(t *testing.T) {
	b := newBench(t)
	h, other, log := b.hub(t), b.hub(t), b.log()
	b.append(t, log, 1, 3) // nobody listens yet
	one, two, far := subscribe(t, h, log, nil), subscribe(t, h, log, nil), subscribe(t, other, log, nil)
	stranger := subscribe(t, h, b.log(), nil)
	for _, s := range []stream{one, two, far, stranger} {
		require.Zero(t, s.started(t).Seq)
	}
	b.append(t, log, 4, 20)
	for _, s := range []stream{one, two, far} {
		require.EqualValues(t, 17, s.events(t, 4, 20).Seq)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := stranger.next(ctx)
	require.ErrorIs(t, err, context.Canceled, "nothing came for somebody else")
}

func TestSince(t *testing.T) {
	b := newBench(t)
	h, log := b.hub(t), b.log()
	s := subscribe(t, h, log, nil)
	began := s.started(t)
	b.append(t, log, 1, 5)
	place := s.events(t, 1, 5)
	s.end()

	t.Run("brings what was missed, in order, then what comes", func(t *testing.T) {
		b.append(t, log, 6, 25)
		s := subscribe(t, h, log, &place)
		require.Equal(t, place, s.started(t), "the place that was given")
		s.events(t, 6, 25)
		b.append(t, log, 26, 27)
		s.events(t, 26, 27)
	})
	t.Run("brings nothing where nothing was missed", func(t *testing.T) {
		end := place
		end.Seq = 27
		s := subscribe(t, h, log, &end)
		s.started(t)
		b.append(t, log, 28, 28)
		require.EqualValues(t, 28, s.events(t, 28, 28).Seq)
	})
	t.Run("brings a gap when the log is shorter, then what comes", func(t *testing.T) {
		b.append(t, log, 29, 300)
		s := subscribe(t, h, log, &place)
		require.Equal(t, place, s.started(t))
		gap := place
		gap.Seq = 300
		require.Equal(t, social.LiveItem{Kind: social.LiveGap, Place: gap}, s.item(t))
		b.append(t, log, 301, 301)
		s.events(t, 301, 301)
	})
	t.Run("brings a gap when it is another log", func(t *testing.T) {
		require.NoError(t, b.logs.Reset(t.Context(), []social.LogID{log}))
		s := subscribe(t, h, log, &began)
		require.Equal(t, began, s.started(t))
		item := s.item(t)
		require.Equal(t, social.LiveGap, item.Kind)
		require.NotEqual(t, began.Epoch, item.Place.Epoch)
	})
}

func TestAResetIsAGapForWhoeverListens(t *testing.T) {
	b := newBench(t)
	h, log := b.hub(t), b.log()
	one, two := subscribe(t, h, log, nil), subscribe(t, h, log, nil)
	old := one.started(t)
	require.Equal(t, old, two.started(t))
	require.NoError(t, b.logs.Reset(t.Context(), []social.LogID{log}))
	for _, s := range []stream{one, two} {
		item := s.item(t)
		require.Equal(t, social.LiveGap, item.Kind)
		require.NotEqual(t, old.Epoch, item.Place.Epoch)
	}
	b.append(t, log, 1, 1)
	one.events(t, 1, 1)
	two.events(t, 1, 1)
	require.EqualValues(t, 2, testutil.ToFloat64(h.metrics.gaps))
}

func TestALostNoticeCostsAPoll(t *testing.T) {
	b := newBench(t)
	f := &faulty{}
	f.deaf.Store(true)
	h, log := b.hub(t, f.into, func(c *Config) { c.Poll = 10 * time.Millisecond }), b.log()
	s := subscribe(t, h, log, nil)
	s.started(t)
	b.append(t, log, 1, 3)
	s.events(t, 1, 3)
}

func TestFailedReadsLoseNothing(t *testing.T) {
	b := newBench(t)
	f := &faulty{}
	h, log := b.hub(t, f.into), b.log()
	s := subscribe(t, h, log, nil)
	s.started(t)
	f.blind.Store(true)
	before := f.read.Load()
	b.append(t, log, 1, 3)
	require.Eventually(t, func() bool { return f.read.Load() > before }, 10*time.Second, time.Millisecond)
	_, err := h.Subscribe(t.Context(), log, nil)
	require.Equal(t, social.CodeUnavailable, social.CodeOf(err), "a subscription that can't begin is none")
	f.blind.Store(false)
	s.events(t, 1, 3)
	require.Positive(t, testutil.ToFloat64(h.metrics.failures))
}

func TestASlowConsumerIsEndedAloneAndCanComeBack(t *testing.T) {
	b := newBench(t)
	h, log := b.hub(t), b.log()
	slow, quick := subscribe(t, h, log, nil), subscribe(t, h, log, nil)
	slow.started(t)
	quick.started(t)
	place := social.LogPlace{}
	for n := 1; n <= bound+1; n++ { // read one by one: the log itself is shorter
		b.append(t, log, n, n)
		p := quick.events(t, n, n)
		if n == bound-100 {
			place = p
		}
	}
	_, err := slow.try()
	require.Equal(t, social.CodeSlowConsumer, social.CodeOf(err))
	_, err = slow.try()
	require.Equal(t, social.CodeSlowConsumer, social.CodeOf(err), "the end is final")
	require.EqualValues(t, 1, testutil.ToFloat64(h.metrics.slow))
	require.EqualValues(t, 1, testutil.ToFloat64(h.metrics.subscribers))

	back := subscribe(t, h, log, &place)
	back.started(t)
	back.events(t, bound-99, bound+1)
}

func TestAReplayedLogAndAsMuchAgainFit(t *testing.T) {
	s := newSubscriber(social.LogPlace{})
	read := social.LogRead{Entries: make([]social.LiveEntry, 256)}
	require.True(t, s.push(append([]social.LiveItem{{Kind: social.LiveStarted}}, items(read)...)))
	require.True(t, s.push(items(read)[1:]))
	require.False(t, s.push(items(read)[:1]))
}

func TestWhoeverLeavesIsForgotten(t *testing.T) {
	b := newBench(t)
	h, log := b.hub(t), b.log()
	one, two := subscribe(t, h, log, nil), subscribe(t, h, log, nil)
	one.started(t)
	two.started(t)
	one.end()
	b.append(t, log, 1, 1)
	two.events(t, 1, 1)
	two.end()
	require.Eventually(t, func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.logs) == 0
	}, 10*time.Second, time.Millisecond)
	require.Zero(t, testutil.ToFloat64(h.metrics.subscribers))
	again := subscribe(t, h, log, nil)
	require.EqualValues(t, 1, again.started(t).Seq)
	b.append(t, log, 2, 2)
	again.events(t, 2, 2)
}

func TestAStopEndsEverySubscription(t *testing.T) {
	b := newBench(t)
	h := b.hub(t, func(c *Config) { c.Notices = forgiving{c.Notices} })
	s := subscribe(t, h, b.log(), nil)
	s.started(t)
	require.NoError(t, h.Stop(t.Context()))
	_, err := s.try()
	require.Equal(t, social.CodeUnavailable, social.CodeOf(err))
	_, err = h.Subscribe(t.Context(), b.log(), nil)
	require.Equal(t, social.CodeUnavailable, social.CodeOf(err))
}

// forgiving may be closed twice.
type forgiving struct{ Notices }

func (f forgiving) Close() error {
	_ = f.Notices.Close()
	return nil
}

// TestNothingIsMissedOrDoubled has authors write on, some of it twice and late, through two processes, with
// logs that are shared by subscribers who come, go and come back with the place that they had.
func TestNothingIsMissedOrDoubled(t *testing.T) {
	const authors, feeds, returns = 4, 50, 12
	b := newBench(t)
	hubs, log := []*Hub{b.hub(t), b.hub(t)}, b.log()
	started := make([]stream, 4)
	for i := range started {
		started[i] = subscribe(t, hubs[i%2], log, nil)
		started[i].started(t)
	}
	var working sync.WaitGroup
	for author := range authors {
		working.Go(func() {
			for n := range feeds {
				b.append(t, log, 1000*author+n, 1000*author+n)
				if rand.IntN(10) < 3 {
					late := rand.IntN(n + 1)
					b.append(t, log, 1000*author+late, 1000*author+late)
				}
			}
		})
	}
	for i, s := range started {
		working.Go(func() {
			next := [authors]int{}
			for got := range authors * feeds {
				item, err := s.try()
				if !assert.NoError(t, err) {
					return
				}
				author, n := int(item.Entry.ID)/1000, int(item.Entry.ID)%1000
				assert.Equal(t, social.LiveEvent, item.Kind)
				assert.Equal(t, next[author], n, "each author's feeds, in order, once")
				next[author]++
				if got%(authors*feeds/returns) == 0 {
					s.end()
					ctx, cancel := context.WithCancel(context.Background())
					defer cancel()
					s.end = cancel
					patient(t, func() (err error) {
						s.next, err = hubs[(got+i)%2].Subscribe(ctx, log, &item.Place)
						return err
					})
					first, err := s.try()
					assert.NoError(t, err)
					assert.Equal(t, social.LiveItem{Kind: social.LiveStarted, Place: item.Place}, first)
				}
			}
		})
	}
	working.Wait()
}

func TestAPollReadsMoreLogsThanFitIntoATrip(t *testing.T) {
	b := newBench(t)
	f := &faulty{}
	f.deaf.Store(true)
	h := b.hub(t, f.into, func(c *Config) { c.Poll = 100 * time.Millisecond })
	var logs []social.LogID
	var streams []stream
	for range readsPerTrip + 1 {
		logs = append(logs, b.log())
		streams = append(streams, subscribe(t, h, logs[len(logs)-1], nil))
	}
	for n := 1; n <= 3; n++ {
		for some := range slices.Chunk(logs, 100) {
			b.appendTo(t, some, n)
		}
	}
	for _, s := range streams {
		s.started(t)
		s.events(t, 1, 3)
	}
}

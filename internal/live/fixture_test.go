package live

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"circle/internal/social"
	"circle/internal/store/redisstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a Redis, real where CIRCLE_TEST_REDIS_URL names one, and logs that no other test has.
type bench struct {
	cfg  redisstore.Config
	next int64
	logs *redisstore.Logs
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{next: rand.Int64N(1 << 40)}
	if url := os.Getenv("CIRCLE_TEST_REDIS_URL"); url != "" {
		b.cfg.URLs = redisstore.OneURL(url)
	} else {
		embedded, err := redisstore.StartEmbedded(t.Context())
		require.NoError(t, err)
		t.Cleanup(embedded.Close)
		b.cfg = redisstore.Config{URLs: redisstore.OneURL(embedded.URL()), Plain: true}
	}
	b.logs = b.store(t).Logs()
	return b
}

func (b *bench) store(t *testing.T) *redisstore.Store {
	t.Helper()
	s, err := redisstore.Open(t.Context(), b.cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func (b *bench) log() social.LogID {
	b.next++
	return social.LogID{Kind: social.LogKind(b.next % 3), Of: b.next}
}

// hub starts a hub as in a process of its own; change may put faults in between. It only reads when told
// to, unless change sets Poll.
func (b *bench) hub(t *testing.T, change ...func(*Config)) *Hub {
	t.Helper()
	s := b.store(t)
	cfg := Config{Logs: s.Logs(), Notices: s.Notices(), Log: slog.New(slog.DiscardHandler), Poll: time.Hour}
	for _, c := range change {
		c(&cfg)
	}
	h := New(cfg)
	h.Start(context.Background())
	t.Cleanup(func() { require.NoError(t, h.Stop(context.Background())) })
	return h
}

func entry(n int) social.LiveEntry {
	return social.LiveEntry{Kind: social.LiveFeedAdded, ID: int64(n), Version: int64(n)}
}

func (b *bench) append(t *testing.T, log social.LogID, from, to int) {
	t.Helper()
	for n := from; n <= to; n++ {
		b.appendTo(t, []social.LogID{log}, n)
	}
}

// appendTo writes an entry, again if the store was too busy, as the far stage does.
func (b *bench) appendTo(t *testing.T, logs []social.LogID, n int) {
	t.Helper()
	patient(t, func() error {
		_, err := b.logs.Append(context.Background(), logs, entry(n))
		return err
	})
}

// patient repeats what a store was too busy for. It is safe for use by any goroutine.
func patient(t *testing.T, do func() error) {
	t.Helper()
	err := do()
	if social.CodeOf(err) == social.CodeUnavailable {
		assert.Eventually(t, func() bool {
			err = do()
			return social.CodeOf(err) != social.CodeUnavailable
		}, 20*time.Second, 10*time.Millisecond)
	}
	assert.NoError(t, err)
}

// stream is a subscription under test.
type stream struct {
	next func(context.Context) (social.LiveItem, error)
	end  context.CancelFunc
}

func subscribe(t *testing.T, h *Hub, log social.LogID, since *social.LogPlace) stream {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	s := stream{end: cancel}
	patient(t, func() (err error) {
		s.next, err = h.Subscribe(ctx, log, since)
		return err
	})
	return s
}

// item is the next one, soon.
func (s stream) item(t *testing.T) social.LiveItem {
	t.Helper()
	item, err := s.try()
	require.NoError(t, err)
	return item
}

func (s stream) try() (social.LiveItem, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return s.next(ctx)
}

// started takes the first item.
func (s stream) started(t *testing.T) social.LogPlace {
	t.Helper()
	item := s.item(t)
	require.Equal(t, social.LiveStarted, item.Kind)
	return item.Place
}

// events takes entries from one to another and gives the last place.
func (s stream) events(t *testing.T, from, to int) social.LogPlace {
	t.Helper()
	var place social.LogPlace
	for n := from; n <= to; n++ {
		item := s.item(t)
		require.Equal(t, social.LiveItem{Kind: social.LiveEvent, Place: item.Place, Entry: entry(n)}, item)
		if n > from {
			require.Equal(t, place.Seq+1, item.Place.Seq)
		}
		place = item.Place
	}
	return place
}

// faulty is logs and notices with switches.
type faulty struct {
	Logs
	Notices
	deaf, blind atomic.Bool
	read        atomic.Int64
}

func (f *faulty) into(c *Config) {
	f.Logs, f.Notices = c.Logs, c.Notices
	c.Logs, c.Notices = f, f
}

// Receive loses notices while deaf is set.
func (f *faulty) Receive(ctx context.Context) (social.LogID, error) {
	for {
		log, err := f.Notices.Receive(ctx)
		if err != nil || !f.deaf.Load() {
			return log, err
		}
	}
}

// Read fails while blind is set.
func (f *faulty) Read(ctx context.Context, asks []social.LogAsk) ([]social.LogRead, error) {
	f.read.Add(1)
	if f.blind.Load() {
		return make([]social.LogRead, len(asks)), social.Unavailable(errors.New("blind"))
	}
	return f.Logs.Read(ctx, asks)
}

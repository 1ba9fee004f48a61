package redisstore

import (
	"context"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"circle/internal/social"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// realURL names a real deployment whose data the tests may delete: redis:// or redis-cluster://.
// Without it they run on the embedded server alone. The variable is read while a test runs, else
// results would be cached whatever it says.
func realURL() string { return os.Getenv("CIRCLE_TEST_REDIS_URL") }

// fixture is a Store on an empty deployment, at epoch 1.
type fixture struct {
	*Store
	config Config
	trips  *tripCounter
	real   bool
}

// patience keeps a busy machine from failing tests that are not about time.
const patience = 10 * time.Second

// everywhere runs a test on each deployment that there is.
func everywhere(t *testing.T, test func(t *testing.T, f fixture)) {
	t.Run("embedded", func(t *testing.T) {
		embedded, err := StartEmbedded(t.Context())
		require.NoError(t, err)
		t.Cleanup(embedded.Close)
		test(t, newFixture(t, Config{URLs: OneURL(embedded.URL()), Plain: true, Timeout: patience}))
	})
	if realURL() != "" {
		t.Run("real", func(t *testing.T) { test(t, onReal(t)) })
	}
}

func onReal(t *testing.T) fixture {
	f := newFixture(t, Config{URLs: OneURL(realURL()), Timeout: patience})
	f.real = true
	require.NoError(t, f.servers[Feed].each(t.Context(), func(ctx context.Context, node *redis.Client) error {
		return node.FlushAll(ctx).Err()
	}))
	f.trips.count.Store(0)
	return f
}

func newFixture(t *testing.T, config Config) fixture {
	f := fixture{config: config, trips: new(tripCounter)}
	config.Hooks = []redis.Hook{f.trips}
	f.Store = open(t, config)
	return f
}

// open opens a Store at epoch 1; it stands for one process.
func open(t *testing.T, config Config) *Store {
	s, err := Open(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	for _, role := range Roles() {
		s.SetEpochs(map[string]uint32{string(role): 1})
	}
	return s
}

// client is for looking at raw keys.
func (f fixture) client() redis.UniversalClient { return f.servers[Feed].client }

// onCluster says that keys are spread over nodes.
func (f fixture) onCluster() bool { return strings.HasPrefix(f.config.URLs[Feed], schemeCluster) }

// tripCounter counts round trips.
type tripCounter struct{ count atomic.Int64 }

func (c *tripCounter) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (c *tripCounter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.count.Add(1)
		return next(ctx, cmd)
	}
}

func (c *tripCounter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		c.count.Add(1)
		return next(ctx, cmds)
	}
}

func at(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

func samplePlayer(id social.PlayerID, version int64) *social.Player {
	avatar := "https://img.example/a/7f3c9d.png"
	return &social.Player{ID: id, Name: "小明 Ming", Level: 37, AvatarURL: &avatar, Version: version}
}

func sampleFeed(id social.FeedID, version int64) *social.Feed {
	edited := at(1_790_000_000_123)
	return &social.Feed{ID: id, AuthorID: 4711, Visibility: social.Friends, Hidden: true, Excerpt: "今天下雨 ☔ rain", EditedAt: &edited, Version: version}
}

func sampleCounters(id social.FeedID, version int64) *social.FeedCounters {
	return &social.FeedCounters{FeedID: id, AuthorID: 4711, Visibility: social.Public, Hidden: true, Likes: 1234, Comments: 56, Heads: 7, Views: 78901, Version: version}
}

func sampleDetail(id social.PlayerID, version int64) *social.PlayerDetail {
	guild := "公会-1"
	return &social.PlayerDetail{ID: id, Bio: "喜欢雨天", GuildID: &guild, JoinedAt: at(1_700_000_000_001),
		PlayerCounts: social.PlayerCounts{Feeds: 1, Fans: 2000, Following: 3, Friends: 4}, Version: version}
}

func sampleComment(id social.CommentID, version int64) *social.Comment {
	return &social.Comment{ID: id, FeedID: feedID(3), AuthorID: 4711, RootID: id - 1, ReplyToID: 1, Content: "说得好 👍", Version: version}
}

func sampleBody(id social.FeedID, version int64) *social.FeedBody {
	return &social.FeedBody{ID: id, Content: strings.Repeat("今天天气不错，Let's go! ", 200), Version: version}
}

// feedID makes ids of the usual size.
func feedID(n int) social.FeedID { return social.FeedID(375_000_000_000_000 + int64(n)*4099) }

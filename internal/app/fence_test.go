package app_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/testkit"
	"circle/internal/testkit/servers"
)

// madeGood is how soon after a fault's end everything is right again.
const madeGood = 5 * time.Second

// pullSoon has authors of two fans pulled, so that pages are merged from more lists than one.
const pullSoon = "CIRCLE_FANOUT_PUSH_LIMIT=1"

// past is a circle whose Redis can be brought back in time: two servers that reach it through an
// address behind which another can be put.
type past struct {
	primary, replica *servers.Redis
	proxy            *servers.Proxy
	client           *redis.Client
	stores           testkit.Stores
	apps             []*testkit.App
	players          []testkit.Player
	// feed is one that changes, gone the next one to be deleted.
	feed, gone string
	writes     int
}

func newPast(t *testing.T) *past {
	p := &past{}
	var err error
	for _, server := range []**servers.Redis{&p.primary, &p.replica} {
		*server, err = servers.StartRedis(t.Context(), "--repl-diskless-sync-delay", "0")
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, (*server).Stop()) })
	}
	p.proxy, err = servers.StartProxy(p.primary.Addr())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.proxy.Close()) })
	p.client = redis.NewClient(&redis.Options{Addr: p.proxy.Addr()})
	t.Cleanup(func() { require.NoError(t, p.client.Close()) })
	p.stores = testkit.NewStores(t)
	p.stores.RedisURL = "redis://" + p.proxy.Addr() + "/0"
	p.apps = []*testkit.App{testkit.Start(t, p.stores, pullSoon), testkit.Start(t, p.stores, pullSoon)}
	p.players = busyCircle(t, p.apps[0])
	p.feed, p.gone = p.players[0].MustPost(t, "before", "PUBLIC"), p.players[0].MustPost(t, "to be deleted", "PUBLIC")
	for _, app := range p.apps {
		p.on(t, app)
	}
	return p
}

// on is what all players see on a server; who reads it has filled Redis.
func (p *past) on(t *testing.T, app *testkit.App) (seen [][]string) {
	t.Helper()
	for _, player := range p.players {
		seen = append(seen, snapshot(t, player.On(app), p.players))
	}
	return seen
}

// write changes what every kind of key holds, each time to something else, and gives what is seen then.
func (p *past) write(t *testing.T) [][]string {
	t.Helper()
	p.writes++
	author, text := p.players[0], fmt.Sprintf("after %d", p.writes)
	follow, unfollow := p.players[3], p.players[1]
	if p.writes%2 == 0 {
		follow, unfollow = unfollow, follow
	}
	author.MustPost(t, text, "FRIENDS")
	made := author.MustPost(t, text, "PUBLIC")
	for _, mutation := range []func() (testkit.Payload, error){
		func() (testkit.Payload, error) { return author.Edit(p.feed, text) },
		func() (testkit.Payload, error) { return p.players[p.writes%2+1].Like(made) },
		func() (testkit.Payload, error) { return p.players[p.writes%2+1].Like(p.feed) },
		func() (testkit.Payload, error) { return p.players[2-p.writes%2].Unlike(p.feed) },
		func() (testkit.Payload, error) { return author.Delete(p.gone) },
		func() (testkit.Payload, error) { return author.Follow(follow) },
		func() (testkit.Payload, error) { return author.Unfollow(unfollow) },
		func() (testkit.Payload, error) {
			return author.Mutate("updateProfile", "UpdateProfileInput", "player{id}", testkit.Vars{"level": p.writes, "bio": text})
		},
	} {
		_, err := mutation()
		require.NoError(t, err)
	}
	p.gone = made
	testkit.Quiet(t, p.apps[0])
	return p.on(t, p.apps[0])
}

// fence is what a primary says of its feeds.
func fence(t *testing.T, addr string) string {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: addr})
	defer client.Close()
	keys, err := client.Keys(t.Context(), "fence:*").Result()
	require.NoError(t, err)
	require.Len(t, keys, 1)
	at, err := client.HGet(t.Context(), keys[0], "feed").Result()
	require.NoError(t, err)
	return at
}

// noted is what the relational store holds of that fence.
func (p *past) noted(t *testing.T) (at string) {
	t.Helper()
	u, err := url.Parse(p.stores.DatabaseURL)
	require.NoError(t, err)
	c := mysql.NewConfig()
	c.Net, c.Addr, c.User, c.DBName = "tcp", u.Host, u.User.Username(), strings.TrimPrefix(u.Path, "/")
	c.Passwd, _ = u.User.Password()
	db, err := sql.Open("mysql", c.FormatDSN())
	require.NoError(t, err)
	defer db.Close()
	require.NoError(t, db.QueryRow("SELECT at_ms FROM fences WHERE role = 'feed'").Scan(&at))
	return at
}

// raised waits until the fence has been raised.
func (p *past) raised(t *testing.T) {
	t.Helper()
	before := p.noted(t)
	require.Eventually(t, func() bool { return p.noted(t) != before }, 20*time.Second, 5*time.Millisecond)
}

// promote puts the replica, which lacks what was written since it was split off, behind the address.
func (p *past) promote(t *testing.T) {
	t.Helper()
	p.proxy.Switch(p.replica.Addr())
	require.NoError(t, p.primary.Kill())
}

// split makes a replica of the primary, up to a fence that has just been raised.
func (p *past) split(t *testing.T) {
	t.Helper()
	require.NoError(t, p.replica.Follow(t.Context(), p.primary))
	p.raised(t)
	require.NoError(t, p.replica.Promote(t.Context()))
}

// TestRedisThatWentBackInTimeIsMadeGood runs where it may start a Redis of its own beside the one that it
// was given.
func TestRedisThatWentBackInTimeIsMadeGood(t *testing.T) {
	if !strings.HasPrefix(os.Getenv("CIRCLE_TEST_REDIS_URL"), "redis://") {
		return
	}
	ctx := context.Background()
	for _, c := range []struct {
		name string
		// restarts says that the servers stop and start meanwhile.
		restarts bool
		// back brings Redis back to before what write does; it gives what was seen after write.
		back func(t *testing.T, p *past) [][]string
	}{
		{"an old file is loaded", false, func(t *testing.T, p *past) [][]string {
			saved, err := p.primary.Save(ctx)
			require.NoError(t, err)
			want := p.write(t)
			p.raised(t)
			require.NoError(t, p.primary.RestartFrom(ctx, saved))
			return want
		}},
		{"a replica is promoted whose fence is behind", false, func(t *testing.T, p *past) [][]string {
			p.split(t)
			want := p.write(t)
			p.raised(t)
			require.Less(t, fence(t, p.replica.Addr()), p.noted(t))
			p.promote(t)
			return want
		}},
		{"a replica is promoted whose fence is equal", false, func(t *testing.T, p *past) [][]string {
			for range 50 {
				p.split(t)
				if want := p.write(t); fence(t, p.replica.Addr()) == p.noted(t) {
					p.promote(t)
					return want
				}
			}
			require.Fail(t, "the fence was raised each time before the replica could be promoted")
			return nil
		}},
		{"it is flushed", false, func(t *testing.T, p *past) [][]string {
			want := p.write(t)
			require.NoError(t, p.client.FlushAll(ctx).Err())
			return want
		}},
		{"an old file is loaded while no server runs", true, func(t *testing.T, p *past) [][]string {
			saved, err := p.primary.Save(ctx)
			require.NoError(t, err)
			want := p.write(t)
			p.raised(t)
			for _, app := range p.apps {
				app.Stop(t)
			}
			require.NoError(t, p.primary.RestartFrom(ctx, saved))
			for i := range p.apps {
				p.apps[i] = testkit.Start(t, p.stores, pullSoon)
			}
			return want
		}},
		{"it restarts empty", false, func(t *testing.T, p *past) [][]string {
			want := p.write(t)
			require.NoError(t, p.primary.Restart(ctx))
			return want
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPast(t)
			author, fans := p.players[0], p.players[2:]
			var live []home
			for i, fan := range fans {
				h := listen(t, fan.On(p.apps[i]), nil)
				h.goesOn(t, author)
				live = append(live, h)
			}
			want := c.back(t, p)
			for i, fan := range fans {
				if c.restarts {
					live[i] = listen(t, fan.On(p.apps[i]), live[i].last(t))
				}
				live[i].gap(t)
			}
			p.eventually(t, want)
			for _, h := range live {
				h.goesOn(t, author.On(p.apps[0]))
			}
		})
	}
}

// eventually waits until everything is as it should be.
func (p *past) eventually(t *testing.T, want [][]string) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		for _, app := range p.apps {
			assert.Equal(c, want, p.on(t, app))
		}
	}, madeGood, 100*time.Millisecond)
}

// last takes all events up to the end of the stream and gives the last cursor.
func (h home) last(t *testing.T) (cursor string) {
	t.Helper()
	for answer, ok := h.Next(t); ok; answer, ok = h.Next(t) {
		if len(answer.Errors) == 0 {
			cursor = h.read(t, answer).Cursor
		}
	}
	return cursor
}

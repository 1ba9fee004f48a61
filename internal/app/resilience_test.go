package app_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/store/sqlstore"
	"circle/internal/testkit"
)

// snapshot is all that one player sees of others' feeds and of his own.
func snapshot(t *testing.T, p testkit.Player, others []testkit.Player) []string {
	t.Helper()
	seen := p.Home(t, 100)
	for _, other := range others {
		seen = append(seen, p.Profile(t, other, 100)...)
		seen = append(seen, p.Do(t, "query($id:ID!){node(id:$id){... on Player{name level bio avatarUrl feedCount fanCount followingCount friendCount isFriend}}}",
			testkit.Vars{"id": other.ID}).Raw)
	}
	return append(seen, p.Do(t, "{homeFeed(first:100){nodes{content likeCount hasLiked author{name}}}}", nil).Raw)
}

func busyCircle(t *testing.T, app *testkit.App) []testkit.Player {
	t.Helper()
	players := app.SignUpAll(t, "player", 4)
	var feeds []string
	for i, p := range players {
		for _, other := range players[:i] {
			testkit.Must(t)(p.Follow(other))
		}
		for j, visibility := range []string{"PUBLIC", "FANS", "FRIENDS", "PRIVATE"} {
			feeds = append(feeds, p.MustPost(t, fmt.Sprintf("%d %d", i, j), visibility))
		}
	}
	testkit.Must(t)(players[0].Follow(players[1]))
	for _, p := range players {
		testkit.Must(t)(p.Like(feeds[0]))
	}
	testkit.Quiet(t, app)
	return players
}

func TestARestartChangesNoAnswer(t *testing.T) {
	stores := testkit.NewStores(t)
	app := testkit.Start(t, stores)
	players := busyCircle(t, app)
	var before [][]string
	for _, p := range players {
		before = append(before, snapshot(t, p, players))
	}
	app.Stop(t)
	app = testkit.Start(t, stores)
	for i, p := range players {
		assert.Equal(t, before[i], snapshot(t, p.On(app), players), "tokens hold and answers are the same")
	}
}

func TestTwoServersShowTheSame(t *testing.T) {
	stores := testkit.NewStores(t)
	if stores.Embedded() {
		testkit.Start(t, stores)
		_, err := testkit.TryStart(t, stores)
		require.ErrorContains(t, err, "another server", "embedded stores serve one")
		return
	}
	one, two := testkit.Start(t, stores), testkit.Start(t, stores)
	players := busyCircle(t, one)
	for _, p := range players {
		assert.Equal(t, snapshot(t, p, players), snapshot(t, p.On(two), players))
	}
	feed := players[0].On(two).MustPost(t, "from the other server", "PUBLIC")
	assert.Equal(t, feed, players[0].Home(t, 1)[0])
	testkit.Must(t)(players[0].Delete(feed))
	assert.NotContains(t, players[0].On(two).Home(t, 100), feed)
}

// TestFlushesAmidReadersAndWritersChangeNothing has writers and readers go on while Redis is emptied
// again and again: who writes reads what he wrote, and nobody reads what was older before he asked.
func TestFlushesAmidReadersAndWritersChangeNothing(t *testing.T) {
	stores := testkit.NewStores(t)
	app := testkit.Start(t, stores)
	readers := 24
	if testing.Short() {
		readers = 8
	}
	author, fans := app.SignUp(t, "author"), app.SignUpAll(t, "fan", readers)
	feed := author.MustPost(t, "0", "PUBLIC")

	var writing, reading sync.WaitGroup
	var wrote atomic.Bool
	var answered atomic.Int64 // the newest edit that has been answered
	writing.Go(func() {
		for i := 1; i <= 60; i++ {
			_, err := author.Edit(feed, strconv.Itoa(i))
			assert.NoError(t, err)
			answered.Store(int64(i))
			got, err := look(author, feed, author)
			assert.NoError(t, err)
			assert.Equal(t, strconv.Itoa(i), got.Node.Content, "who edits reads the edit")
		}
	})
	for _, fan := range fans {
		writing.Go(func() {
			for range 10 {
				assert.NoError(t, turn(t, fan, feed, author))
			}
		})
		reading.Go(func() {
			for !wrote.Load() {
				newest := answered.Load()
				got, err := look(fan, feed, author)
				assert.NoError(t, err)
				edit, err := strconv.ParseInt(got.Node.Content, 10, 64)
				assert.NoError(t, err)
				assert.GreaterOrEqual(t, edit, newest, "an edit that was answered is what everybody reads")
			}
		})
	}
	flushed := make(chan struct{})
	go func() {
		defer close(flushed)
		for !stores.Embedded() && !wrote.Load() {
			stores.Flush(t)
		}
	}()
	writing.Wait()
	wrote.Store(true)
	reading.Wait()
	<-flushed

	got, err := look(author, feed, author)
	require.NoError(t, err)
	assert.Equal(t, seen{Content: "60", Author: &seenPlayer{}}, got.Node)
}

type seen struct {
	Content   string
	LikeCount int
	HasLiked  bool
	Author    *seenPlayer
}

type seenPlayer struct {
	FanCount    int
	IsFollowing bool
}

type looked struct{ Node seen }

// look reads a feed and its author, safe for use by any goroutine.
func look(p testkit.Player, feed string, author testkit.Player) (looked, error) {
	return testkit.TryRead[looked](p.App, p.Token,
		"query($id:ID!){node(id:$id){... on Feed{content likeCount hasLiked author{fanCount isFollowing}}}}", testkit.Vars{"id": feed})
}

// turn likes and follows, looks, takes both back, and looks again.
func turn(t *testing.T, p testkit.Player, feed string, author testkit.Player) error {
	for _, on := range []bool{true, false} {
		like, follow := p.Like, p.Follow
		if !on {
			like, follow = p.Unlike, p.Unfollow
		}
		if _, err := like(feed); err != nil {
			return err
		}
		if _, err := follow(author); err != nil {
			return err
		}
		got, err := look(p, feed, author)
		if err != nil {
			return err
		}
		assert.Equal(t, on, got.Node.HasLiked)
		assert.Equal(t, on, got.Node.Author.IsFollowing)
		if on {
			assert.Positive(t, got.Node.LikeCount)
			assert.Positive(t, got.Node.Author.FanCount)
		}
		lists, err := listing(p, feed)
		if err != nil {
			return err
		}
		assert.Equal(t, map[string]bool{"newest likers": on, "likers": on, "fans": on}, lists)
	}
	return nil
}

// listing tells which of the lists of a feed and of its author a player is in.
func listing(p testkit.Player, feed string) (map[string]bool, error) {
	type likers struct{ Nodes []struct{ Player testkit.ID } }
	got, err := testkit.TryRead[struct {
		Node struct {
			Newest, First likers
			Author        struct{ Fans struct{ Nodes []testkit.ID } }
		}
	}](p.App, p.Token, `query($id:ID!){node(id:$id){... on Feed{
		newest:likes(first:100,order:NEWEST){nodes{player{id}}} first:likes(first:100){nodes{player{id}}} author{fans(first:100){nodes{id}}}}}}`,
		testkit.Vars{"id": feed})
	me := struct{ Player testkit.ID }{testkit.ID{ID: p.ID}}
	return map[string]bool{
		"newest likers": slices.Contains(got.Node.Newest.Nodes, me),
		"likers":        slices.Contains(got.Node.First.Nodes, me),
		"fans":          slices.Contains(got.Node.Author.Fans.Nodes, me.Player),
	}, err
}

// TestARedisThatTakesNoWritesShowsNothingOld has who writes read what he wrote, and others soon, though nothing
// that Redis holds can be brought up to date.
func TestARedisThatTakesNoWritesShowsNothingOld(t *testing.T) {
	for _, c := range []struct {
		name   string
		refuse func(s testkit.Stores, t testing.TB) (free func())
		// given says that what Redis holds is given up.
		given bool
	}{
		{"its memory is full", testkit.Stores.Fill, false},
		{"it lacks replicas", testkit.Stores.Refuse, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			stores := testkit.NewStores(t)
			if stores.Embedded() {
				return // it takes all
			}
			one, two := testkit.Start(t, stores), testkit.Start(t, stores)
			a, b := one.SignUp(t, "ann"), one.SignUp(t, "bob")
			testkit.Must(t)(b.Follow(a))
			feed, gone := a.MustPost(t, "x", "PUBLIC"), a.MustPost(t, "y", "PUBLIC")
			testkit.Quiet(t, one)
			for _, p := range []testkit.Player{a, b} {
				warm(t, p)
			}
			const query = "query($feed:ID!,$gone:ID!,$other:ID!){feed:node(id:$feed){... on Feed{likeCount}} gone:node(id:$gone){id} other:node(id:$other){... on Player{fanCount isFriend}}}"
			seen := func(p testkit.Player) string {
				return string(p.Do(t, query, testkit.Vars{"feed": feed, "gone": gone, "other": b.ID}).Data) + fmt.Sprint(p.Home(t, 10), p.Profile(t, a, 10))
			}
			seen(a)
			before := feedEpoch(t, stores)
			most := before + 2 // once by each of the servers
			if strings.HasPrefix(stores.RedisURL, "redis-cluster") {
				most = before + 2*3 // and for each of the nodes
			}

			free := c.refuse(stores, t)
			testkit.Must(t)(a.Like(feed))
			testkit.Must(t)(a.Follow(b))
			testkit.Must(t)(a.Delete(gone))
			made := a.MustPost(t, "z", "PUBLIC")
			want := `{"feed":{"likeCount":1},"gone":null,"other":{"fanCount":1,"isFriend":true}}` + fmt.Sprint([]string{made, feed}, []string{made, feed})
			assert.Equal(t, want, seen(a), "at once")
			require.Eventually(t, func() bool { return seen(a.On(two)) == want }, madeGood, 50*time.Millisecond)
			require.Eventually(t, func() bool { return slices.Equal([]string{made, feed}, b.On(two).Home(t, 10)) }, madeGood, 50*time.Millisecond)
			raised := feedEpoch(t, stores)
			assert.Equal(t, c.given, raised > before)
			testkit.Must(t)(a.Unlike(feed))
			testkit.Must(t)(a.Like(feed))
			assert.Equal(t, want, seen(a))
			assert.LessOrEqual(t, feedEpoch(t, stores), most)
			free()
			assert.Equal(t, want, seen(a))
			testkit.Quiet(t, one)
			for _, app := range []*testkit.App{one, two} {
				assert.Equal(t, want, seen(a.On(app)))
				warm(t, a.On(app))
				assert.Equal(t, want, seen(a.On(app)))
				assert.Equal(t, []string{made, feed}, b.On(app).Home(t, 10))
			}
			assert.LessOrEqual(t, feedEpoch(t, stores), most)
		})
	}
}

// feedEpoch is the index epoch of feeds.
func feedEpoch(t *testing.T, stores testkit.Stores) uint32 {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), sqlstore.Config{URL: stores.DatabaseURL})
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	epochs, err := store.Epochs(t.Context())
	require.NoError(t, err)
	return epochs["feed"]
}

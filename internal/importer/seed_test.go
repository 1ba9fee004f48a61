package importer

import (
	"fmt"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/service"
	"circle/internal/social"
	"circle/internal/store/sqlstore"
	"circle/internal/testkit/freshdb"
)

// graphDump is a population without identifiers: players and feeds are counted from the first, likes
// are in their order.
func (f *fixture) graphDump(first social.PlayerID) []string {
	f.t.Helper()
	last := first + 1<<20
	lines := f.rows("SELECT player_id - ?, peer_id - ?, following_id > 0, fan_id > 0 FROM edges WHERE player_id BETWEEN ? AND ? ORDER BY 1, 2",
		first, first, first, last)
	lines = append(lines, f.rows("SELECT f.author_id - ?, f.visibility, excerpt, whole, likes FROM feeds f JOIN feed_counts ON feed_id = id"+
		" WHERE f.author_id BETWEEN ? AND ? ORDER BY id", first, first, last)...)
	lines = append(lines, f.rows("SELECT (SELECT COUNT(*) FROM feeds g WHERE g.id < f.id AND g.author_id >= ?), player_id - ?"+
		" FROM likes l JOIN feeds f ON f.id = l.feed_id WHERE player_id BETWEEN ? AND ? ORDER BY feed_id, like_id", first, first, first, last)...)
	return append(lines, f.rows("SELECT id - ?, feeds, fans, following, friends FROM players JOIN player_counts ON player_id = id"+
		" WHERE id BETWEEN ? AND ? ORDER BY id", first, first, last)...)
}

func (f *fixture) names(first social.PlayerID) []string {
	return f.rows("SELECT name FROM players WHERE id >= ? ORDER BY id", first)
}

func TestTheSameSeedGivesTheSamePopulation(t *testing.T) {
	cfg := SeedConfig{Players: 200, Feeds: 300, Seed: 7}
	each(t, func(f *fixture) {
		epoch := f.count("SELECT SUM(epoch) FROM index_epochs")
		one, err := Seed(t.Context(), f.Deps, cfg)
		require.NoError(t, err)
		f.requireExact()
		assert.Greater(t, f.count("SELECT SUM(epoch) FROM index_epochs"), epoch)
		assert.Equal(t, social.PlayerID(1), one.FirstPlayer)
		assert.Equal(t, one.Players, f.count("SELECT COUNT(*) FROM players"))
		assert.Equal(t, one.Feeds, f.count("SELECT COUNT(*) FROM feeds"))
		assert.Equal(t, one.Likes, f.count("SELECT COUNT(*) FROM likes"))
		assert.Equal(t, one.Follows, f.count("SELECT COUNT(*) FROM edges WHERE following_id > 0"))
		assert.Equal(t, 2*one.Friends, f.count("SELECT COUNT(*) FROM edges WHERE friend_id > 0"))
		graph, names := f.graphDump(1), f.names(1)

		// Another store has the same, and so has a second population in this one, with other names.
		other := newFixture(t, another(t, f.url))
		_, err = Seed(t.Context(), other.Deps, cfg)
		require.NoError(t, err)
		assert.Equal(t, graph, other.graphDump(1))
		assert.Equal(t, names, other.names(1))
		two, err := Seed(t.Context(), f.Deps, cfg)
		require.NoError(t, err)
		f.requireExact()
		assert.Equal(t, one.FirstPlayer+200, two.FirstPlayer)
		require.Equal(t, graph, f.graphDump(two.FirstPlayer))
		assert.Equal(t, 400, f.count("SELECT COUNT(DISTINCT name_key) FROM players"))

		cfg := cfg
		cfg.Seed++
		third, err := Seed(t.Context(), f.Deps, cfg)
		require.NoError(t, err)
		assert.NotEqual(t, graph, f.graphDump(third.FirstPlayer))
	})
}

func TestAPopulationIsLifelike(t *testing.T) {
	cfg := SeedConfig{Players: 3000, Feeds: 4000, Seed: 1}
	f := newFixture(t, freshdb.SQLite(t))
	g := newGraph(SeedConfig{Players: 8000, Seed: 1, FollowLimit: 2000})
	few, some, many := 0, 0, 0
	for _, list := range g.following {
		switch n := len(list); {
		case n < 100:
			few++
		case n >= 300 && n <= 1000:
			some++
		case n > 1000 && n <= 2000:
			many++
		}
	}
	assert.Equal(t, 8000, few+some+many)
	assert.InDelta(t, 7200, few, 200)
	assert.InDelta(t, 640, some, 100)
	assert.InDelta(t, 160, many, 60)

	cfg.MaxFollows = 60
	_, err := Seed(t.Context(), f.Deps, cfg)
	require.NoError(t, err)
	f.requireExact()
	for visibility := social.Public; visibility <= social.Private; visibility++ {
		assert.NotZero(t, f.count("SELECT COUNT(*) FROM feeds WHERE visibility = ?", visibility), visibility)
	}
	assert.Greater(t, f.count("SELECT MAX(likes) FROM feed_counts"), 500)
	assert.Greater(t, f.count("SELECT COUNT(*) FROM feed_counts WHERE likes <= 3"), 2000)
	assert.Greater(t, f.count("SELECT MAX(fans) FROM player_counts"), 10*f.count("SELECT SUM(fans) FROM player_counts")/3000)
	assert.NotZero(t, f.count("SELECT COUNT(*) FROM edges WHERE friend_id > 0"))
	long := 0
	for _, text := range f.bodies() {
		assert.LessOrEqual(t, utf8.RuneCountInString(text), social.MaxContentLength)
		if utf8.RuneCountInString(text) > 1000 {
			long++
		}
	}
	assert.InDelta(t, 80, long, 40)
	for _, name := range f.names(1) {
		assert.LessOrEqual(t, utf8.RuneCountInString(name), social.MaxNameLength, name)
	}
	oldest, newest := f.count("SELECT MIN(id) FROM feeds"), f.count("SELECT MAX(like_id) FROM likes")
	assert.WithinDuration(t, f.Now().Add(-seedSpan), social.FeedID(oldest).Time(), seedSpan/100)
	assert.WithinRange(t, social.LikeID(newest).Time(), f.Now().Add(-seedSpan/5), f.Now())
}

// bodies are the texts that excerpts don't hold.
func (f *fixture) bodies() []string {
	var ids []social.FeedID
	for _, id := range f.rows("SELECT feed_id FROM feed_bodies") {
		var n social.FeedID
		_, err := fmt.Sscan(id, &n)
		require.NoError(f.t, err)
		ids = append(ids, n)
	}
	bodies, err := f.store.Bodies().Load(f.t.Context(), ids)
	require.NoError(f.t, err)
	require.Len(f.t, bodies, len(ids))
	var texts []string
	for _, b := range bodies {
		texts = append(texts, b.Content)
	}
	return texts
}

// A recommender can only beat popularity if likes and follows follow interests.
func TestInterestsTellMoreThanChance(t *testing.T) {
	g := newGraph(SeedConfig{Players: 2000, Seed: 3, FollowLimit: 2000})
	shares := func(p, q uint32) int {
		if slices.ContainsFunc(g.interests[p], func(t uint8) bool { return slices.Contains(g.interests[q], t) }) {
			return 1
		}
		return 0
	}
	followed, all, shared, sharedByChance := 0, 0, 0, 0
	for p, list := range g.following {
		for _, q := range list {
			followed++
			shared += shares(uint32(p), q)
		}
		for q := p % 7; q < len(g.following); q += 7 {
			all++
			sharedByChance += shares(uint32(p), uint32(q))
		}
	}
	assert.Greater(t, float64(shared)/float64(followed), 1.5*float64(sharedByChance)/float64(all))
}

func TestAHotFeedHasExactNumbers(t *testing.T) {
	each(t, func(f *fixture) {
		result, err := Seed(t.Context(), f.Deps, SeedConfig{
			Players: 1200, Feeds: 20, Seed: 5, FollowLimit: 200, MaxFollows: 4, Hot: &Hot{Likers: 900, Friends: 200},
		})
		require.NoError(t, err)
		f.requireExact()
		viewer, feed := result.FirstPlayer, f.count("SELECT MIN(id) FROM feeds")
		assert.Equal(t, []string{"200 200"}, f.rows("SELECT following, friends FROM player_counts WHERE player_id = ?", viewer))
		assert.Equal(t, []string{fmt.Sprintf("%d 1 900", viewer+1)}, f.rows("SELECT author_id, visibility, likes FROM feed_counts WHERE feed_id = ?", feed))
		assert.LessOrEqual(t, f.count("SELECT MAX(following) FROM player_counts"), 200)
		const likers = "SELECT l.player_id, like_id FROM likes l LEFT JOIN edges e ON e.player_id = ? AND e.peer_id = l.player_id" +
			" WHERE feed_id = ? AND COALESCE(friend_id, 0) > 0 = ? ORDER BY like_id DESC"
		friends, others := f.rows(likers, viewer, feed, true), f.rows(likers, viewer, feed, false)
		assert.Greater(t, len(friends), 50)
		assert.Equal(t, 900, len(friends)+len(others))
		for part, want := range map[service.LikerPart][]string{service.FriendLikers: friends, service.OtherLikers: others} {
			ask := service.ListAsk[social.FeedID]{Of: social.FeedID(feed), Below: social.MaxID, Limit: 1000}
			lists, err := f.store.Likers(t.Context(), part, viewer, []service.ListAsk[social.FeedID]{ask})
			require.NoError(t, err)
			var got []string
			for _, like := range lists[0] {
				got = append(got, fmt.Sprintf("%d %d", like.Key.Player, like.Order))
			}
			assert.Equal(t, want, got)
		}
	})
}

func TestSeedConfigIsChecked(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  SeedConfig
		ok   bool
	}{
		{"nobody", SeedConfig{}, false},
		{"too many players", SeedConfig{Players: maxPopulation + 1}, false},
		{"fewer than no feeds", SeedConfig{Players: 1, Feeds: -1}, false},
		{"a negative limit", SeedConfig{Players: 1, FollowLimit: -1}, false},
		{"as many likers as players", SeedConfig{Players: 5, Feeds: 1, Hot: &Hot{Likers: 5}}, false},
		{"more friends than the limit", SeedConfig{Players: 5, Feeds: 1, FollowLimit: 2, Hot: &Hot{Friends: 3}}, false},
		{"no room for likes", SeedConfig{Players: 1 << 24, Feeds: 1 << 24, Hot: &Hot{Likers: 1 << 20}}, false},
		{"one player", SeedConfig{Players: 1}, true},
		{"one player with feeds", SeedConfig{Players: 1, Feeds: 3}, true},
		{"all like and all are friends", SeedConfig{Players: 5, Feeds: 1, Hot: &Hot{Likers: 4, Friends: 4}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t, freshdb.SQLite(t))
			_, err := Seed(t.Context(), f.Deps, c.cfg)
			assert.Equal(t, c.ok, err == nil, err)
			f.requireExact()
		})
	}
}

var _ Store = (*sqlstore.Store)(nil)

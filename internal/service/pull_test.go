package service

import (
	"flag"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"circle/internal/social"
	"circle/internal/testkit/freshdb"
)

// TestMain bounds property tests, which run on real stores, unless a run asks for more with -rapid.checks.
func TestMain(m *testing.M) {
	for name, value := range map[string]string{"rapid.checks": "5", "rapid.steps": "20"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	flag.Parse()
	os.Exit(m.Run())
}

// author is one with as many fans as may be pushed to, of whom the viewer is one.
type author struct {
	social.Viewer
	followed bool
}

// cast is a viewer and the authors whom he follows, or did.
type cast struct {
	*pullWorld
	viewer  social.Viewer
	authors []*author
}

func (c *cast) newAuthor() *author {
	a := &author{Viewer: c.player()}
	c.authors = append(c.authors, a)
	for range pushLimit - 1 {
		c.follow(c.player(), a.Viewer)
	}
	c.post(a.Viewer)
	c.turn(a)
	return a
}

// turn begins or ends following.
func (c *cast) turn(a *author) {
	if a.followed = !a.followed; a.followed {
		c.follow(c.viewer, a.Viewer)
	} else {
		c.unfollow(c.viewer, a.Viewer)
	}
}

func (c *cast) postAndFanOut(a *author) {
	c.post(a.Viewer)
	c.fanOut()
}

// cross has the author pass the limit, if he has not, and post.
func (c *cast) cross(a *author) {
	c.follow(c.player(), a.Viewer)
	c.postAndFanOut(a)
}

// minutes lets so much time pass that positions move.
func (c *cast) minutes(*author) { c.clock = c.clock.Add(2 * time.Minute) }

func (c *cast) read(*author) { c.home(c.viewer, 2) }

func (c *cast) readAndBuild(a *author) {
	c.read(a)
	c.build()
}

func (c *cast) lose(windows ...DropWindow) func(a *author) {
	return func(a *author) {
		for _, w := range windows {
			require.NoError(c.t, w.Drop(c.t.Context(), []int64{int64(c.viewer.Player), int64(a.Player)}))
		}
	}
}

func all(steps ...func(a *author)) func(a *author) {
	return func(a *author) {
		for _, step := range steps {
			step(a)
		}
	}
}

// happenings are what goes on, and may meet what is going on.
func (c *cast) happenings() map[string]func(a *author) {
	timelines, pulls, profiles := c.lose(c.cache.Timelines()), c.lose(c.cache.Pulls()), c.lose(c.cache.Profiles())
	return map[string]func(a *author){
		"a crossing":                   c.cross,
		"a post":                       c.postAndFanOut,
		"a post, not fanned out yet":   func(a *author) { c.post(a.Viewer) },
		"minutes":                      c.minutes,
		"a page":                       c.read,
		"a page of new feeds":          all(c.postAndFanOut, c.read),
		"a page that moves positions":  all(c.postAndFanOut, c.minutes, c.read),
		"a build":                      c.readAndBuild,
		"a turn":                       c.turn,
		"two turns":                    all(c.turn, c.postAndFanOut, c.turn),
		"a rebuild":                    all(pulls, c.readAndBuild),
		"a rebuild of the timeline":    all(timelines, c.readAndBuild),
		"a loss of the timeline":       timelines,
		"a loss of the pulled authors": pulls,
		"their loss behind a post":     all(c.cross, c.read, c.postAndFanOut, c.minutes, pulls),
		"a loss of profile lists":      profiles,
		"a loss of all":                all(timelines, pulls, profiles),
		"a raised epoch":               func(*author) { c.setEpoch(c.epoch + 1) },
		"a deleted feed": func(a *author) {
			require.NoError(c.t, c.Feeds.Delete(c.t.Context(), a.Viewer, c.post(a.Viewer)))
		},
		"a feed committed late": func(a *author) {
			id, err := c.ids.Next(c.t.Context())
			require.NoError(c.t, err)
			c.post(a.Viewer)
			c.clock = c.clock.Add(settleTime - time.Second)
			c.readAndBuild(a)
			// Unless so much time has passed meanwhile that its request is over.
			if c.clock.Sub(social.FeedID(id).Time()) < settleTime {
				c.postLate(a.Viewer, social.FeedID(id))
			}
		},
	}
}

// TestHomePagesOfPulledAuthorsWhateverMeetsWhat has things happen, and others at each step of them, and holds
// home pages against their definition.
func TestHomePagesOfPulledAuthorsWhateverMeetsWhat(t *testing.T) {
	freshdb.Each(t, func(t *testing.T, url string) {
		w := newPullWorld(t, url)
		rapid.Check(t, func(r *rapid.T) {
			w.t = r
			c := &cast{pullWorld: w, viewer: w.player()}
			c.newAuthor()
			happenings := c.happenings()
			names := make([]string, 0, len(happenings))
			actions := map[string]func(*rapid.T){
				"another author": func(*rapid.T) { c.newAuthor() },
				"check": func(*rapid.T) {
					c.fanOut()
					c.check(c.viewer)
				},
			}
			pick := func(r *rapid.T) *author { return rapid.SampledFrom(c.authors).Draw(r, "author") }
			for name, happen := range happenings {
				names = append(names, name)
				actions[name] = func(r *rapid.T) { happen(pick(r)) }
			}
			slices.Sort(names)
			for _, kind := range []string{"meet", "meet again", "and again"} {
				actions[kind] = func(r *rapid.T) {
					a := pick(r)
					work, happening := rapid.SampledFrom(names).Draw(r, "work"), rapid.SampledFrom(names).Draw(r, "happening")
					w.steps, w.at = 0, rapid.IntRange(1, 12).Draw(r, "step")
					w.meet = func() { happenings[happening](a) }
					happenings[work](a)
					w.meet = nil
				}
			}
			r.Repeat(actions)
			c.fanOut()
			c.check(c.viewer)
			c.minutes(nil)
			c.check(c.viewer)
		})
	})
}

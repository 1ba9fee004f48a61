package app_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/failpoint"
	"circle/internal/social"
	"circle/internal/testkit"
)

// settles is how long everything may take to be complete after a crash.
const settles = 5 * time.Second

// TestNothingIsLostOrDoneTwiceWhenTheServerIsKilled kills a server at each step of a mutation, starts
// another and repeats the mutation, as a client does that got no answer.
func TestNothingIsLostOrDoneTwiceWhenTheServerIsKilled(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "circle")
	build := exec.Command("go", "build", "-tags", "failpoints", "-o", binary, "circle")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))

	stores := testkit.NewStores(t)
	app := testkit.Start(t, stores)
	author, fan := app.SignUp(t, "author"), app.SignUp(t, "fan")
	liked := author.MustPost(t, "to be liked", "PUBLIC")
	posted := []string{liked}
	on := map[string]bool{} // what a step has made so, the next point takes back
	look := func(t testing.TB, a *testkit.App) state { return lookAt(t, author.On(a), fan.On(a), liked) }
	before := look(t, app)
	app.Stop(t)

	for i, point := range failpoint.Names() {
		t.Run(point, func(t *testing.T) {
			key := testkit.Vars{"content": "posted at " + point, "visibility": "FANS", "idempotencyKey": point}
			steps := []struct {
				name string
				do   func(a *testkit.App, on bool) (testkit.Payload, error)
				want func(s *state, on bool, p testkit.Payload)
				code map[bool]string
			}{
				{"posting", func(a *testkit.App, _ bool) (testkit.Payload, error) { return author.On(a).Create(key) },
					func(s *state, _ bool, p testkit.Payload) {
						posted = append([]string{p.Feed.ID}, posted...)
						s.Profile, s.FeedCount = posted, len(posted)
					}, nil},
				{"following", func(a *testkit.App, on bool) (testkit.Payload, error) {
					if on {
						return fan.On(a).Follow(author)
					}
					return fan.On(a).Unfollow(author)
				}, func(s *state, on bool, _ testkit.Payload) {
					s.FanCount, s.FollowingCount, s.Follows = one(on), one(on), on
				},
					map[bool]string{true: "ALREADY_FOLLOWING", false: "NOT_FOLLOWING"}},
				{"liking", func(a *testkit.App, on bool) (testkit.Payload, error) {
					if on {
						return fan.On(a).Like(liked)
					}
					return fan.On(a).Unlike(liked)
				}, func(s *state, on bool, _ testkit.Payload) { s.LikeCount, s.Likers, s.HasLiked = one(on), one(on), on },
					map[bool]string{true: "ALREADY_LIKED", false: "NOT_LIKED"}},
			}
			if testing.Short() {
				steps = steps[i%len(steps):][:1]
			}
			for _, step := range steps {
				t.Run(step.name, func(t *testing.T) {
					on[step.name] = !on[step.name]
					on := on[step.name]
					victim := startProcess(t, binary, stores, point)
					_, err := step.do(victim.app, on)
					if point != failpoint.BeforeDone {
						require.Error(t, err, "the server dies before it answers")
					}
					victim.requireKilled(t)

					app := testkit.Start(t, stores)
					p, err := step.do(app, on)
					require.NoError(t, err)
					if point == failpoint.BeforeCommit || step.name == "posting" {
						require.Empty(t, p.Code(), "nothing had happened, or a key finds what had")
					} else {
						require.Equal(t, step.code[on], p.Code(), "it had happened, once")
					}
					want := before
					step.want(&want, on, p)
					require.EventuallyWithT(t, func(c *assert.CollectT) {
						assert.Equal(c, want, look(t, app))
						left, err := app.Outbox(t.Context())
						assert.NoError(c, err)
						assert.Equal(c, social.OutboxStats{}, left)
					}, settles, 50*time.Millisecond)
					before = want
					app.Stop(t)
				})
			}
		})
	}
}

func one(on bool) int {
	if on {
		return 1
	}
	return 0
}

// state is what must be whole again after a crash.
type state struct {
	Profile                  []string
	FeedCount                int
	FanCount, FollowingCount int
	Follows, HasLiked        bool
	LikeCount, Likers        int
}

func lookAt(t testing.TB, author, fan testkit.Player, liked string) state {
	r := testkit.Read[struct {
		A, F struct{ FeedCount, FanCount, FollowingCount int }
		R    struct{ IsFollowing bool }
		L    struct {
			LikeCount int
			HasLiked  bool
			Likes     struct{ Nodes []testkit.ID }
		}
	}](t, fan.App, fan.Token, `query($a:ID!,$f:ID!,$l:ID!){a:node(id:$a){...c} f:node(id:$f){...c} r:node(id:$a){... on Player{isFollowing}}
		l:node(id:$l){... on Feed{likeCount hasLiked likes{nodes{id}}}}} fragment c on Player{feedCount fanCount followingCount}`,
		testkit.Vars{"a": author.ID, "f": fan.ID, "l": liked})
	return state{
		Profile: author.Profile(t, author, 3), FeedCount: r.A.FeedCount, FanCount: r.A.FanCount, FollowingCount: r.F.FollowingCount,
		Follows: r.R.IsFollowing, HasLiked: r.L.HasLiked, LikeCount: r.L.LikeCount, Likers: len(r.L.Likes.Nodes),
	}
}

// process is a server of its own, with a failpoint.
type process struct {
	app *testkit.App
	cmd *exec.Cmd
}

func startProcess(t *testing.T, binary string, stores testkit.Stores, point string) *process {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := ln.Addr().String()
	require.NoError(t, ln.Close())
	p := &process{app: testkit.Client("http://" + addr), cmd: exec.Command(binary, "serve")}
	p.cmd.Env = append(append(os.Environ(), stores.Environ()...), "CIRCLE_ADDR="+addr, "CIRCLE_FAILPOINT="+point+"=kill")
	p.cmd.Stderr = t.Output()
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	require.Eventually(t, p.app.Ready, 20*time.Second, 20*time.Millisecond)
	return p
}

func (p *process) requireKilled(t *testing.T) {
	t.Helper()
	_ = p.cmd.Wait()
	require.Equal(t, syscall.SIGKILL, p.cmd.ProcessState.Sys().(syscall.WaitStatus).Signal())
}

package app_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/app"
	"circle/internal/config"
	"circle/internal/social"
	"circle/internal/testkit"
)

// commands are commands on the stores; out is what they print.
func commands(t *testing.T, stores testkit.Stores) (c *app.Commands, out *bytes.Buffer) {
	t.Helper()
	settings, err := config.Load(stores.Environ())
	require.NoError(t, err)
	o := app.Options{Config: settings, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Now: time.Now}
	out = &bytes.Buffer{}
	c, err = app.OpenCommands(context.Background(), o, out, t.Output())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c, out
}

func TestCommandsBesideAServer(t *testing.T) {
	stores := testkit.NewStores(t)
	server := testkit.Start(t, stores)
	named := server.SignUp(t, "42")
	contest := t.TempDir()
	for name, content := range map[string]string{
		"user.csv": "42,Ann\n43,Bob\n", "friends.csv": "42,43\n", "like.csv": "7,42,43\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(contest, name), []byte(content), 0o600))
	}
	c, out := commands(t, stores)
	ctx := t.Context()
	print := func(run error) string {
		t.Helper()
		require.NoError(t, run)
		defer out.Reset()
		return strings.TrimSpace(out.String())
	}
	assert.Contains(t, print(c.ImportPCC(ctx, contest)), "2 players, 2 follows (1 pairs of friends), 1 feeds, 2 likes")
	imported := testkit.Player{ID: print(c.Lookup(ctx, social.KindPlayer, "42")), Token: print(c.Token(ctx, "42")), App: server}
	const who = "{viewer{role player{id friendCount}}}"
	assert.JSONEq(t, `{"viewer":{"role":"PLAYER","player":{"id":"`+imported.ID+`","friendCount":1}}}`, string(imported.Do(t, who, nil).Data))
	feed := print(c.Lookup(ctx, social.KindFeed, "7"))
	assert.JSONEq(t, `{"node":{"likeCount":2}}`, string(imported.Do(t, "query($id:ID!){node(id:$id){... on Feed{likeCount}}}", testkit.Vars{"id": feed}).Data))

	t.Run("a role goes to a name, never to an external id", func(t *testing.T) {
		assert.Empty(t, print(c.Promote(ctx, "42", social.RoleAdmin)))
		role := func(p testkit.Player) string { return p.Do(t, "{viewer{role}}", nil).Raw }
		assert.Eventually(t, func() bool { return strings.Contains(role(named), "ADMIN") }, 3*time.Second, 50*time.Millisecond, "the server notices")
		assert.Contains(t, role(imported), "PLAYER")
		require.ErrorContains(t, c.Promote(ctx, "43", social.RoleAdmin), "no player")
	})
	t.Run("what is unknown is an error and prints nothing", func(t *testing.T) {
		require.ErrorContains(t, c.Token(ctx, "nobody"), "no player")
		require.ErrorContains(t, c.Lookup(ctx, social.KindPlayer, "44"), "nothing was imported")
		require.ErrorContains(t, c.Lookup(ctx, social.KindFeed, "42"), "nothing was imported")
		assert.Empty(t, out.String())
	})
}

func TestAServerSaysWhenRedisDoesNotAnswer(t *testing.T) {
	stores := testkit.NewStores(t)
	stores.RedisURL = "redis://127.0.0.1:1/0"
	settings, err := config.Load(stores.Environ())
	require.NoError(t, err)
	var log bytes.Buffer
	a, err := app.Open(context.Background(), app.Options{Config: settings, Log: slog.New(slog.NewTextHandler(&log, nil)), Now: time.Now})
	require.NoError(t, err)
	require.NoError(t, a.Close())
	assert.Contains(t, log.String(), "redis does not answer")
}

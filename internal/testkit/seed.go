package testkit

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"circle/internal/app"
	"circle/internal/config"
	"circle/internal/importer"
	"circle/internal/social"
)

// SeedHot makes a population with one hot feed and returns the player with many friends and the feed.
func (a *App) SeedHot(t testing.TB, cfg importer.SeedConfig) (viewer Player, feed string) {
	t.Helper()
	settings, err := config.Load(a.Stores.Environ())
	require.NoError(t, err)
	o := app.Options{Config: settings, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Now: time.Now}
	commands, err := app.OpenCommands(context.Background(), o, io.Discard, io.Discard)
	require.NoError(t, err)
	defer func() { require.NoError(t, commands.Close()) }()
	seeded, err := commands.Seed(context.Background(), cfg)
	require.NoError(t, err)
	token, _, err := a.Accounts.AccessToken(context.Background(), seeded.FirstPlayer)
	require.NoError(t, err)
	viewer = Player{ID: seeded.FirstPlayer.String(), Token: token, App: a}
	author := Player{ID: social.PlayerID(seeded.FirstPlayer + 1).String()}
	feeds := viewer.Profile(t, author, 100)
	require.NotEmpty(t, feeds)
	return viewer, feeds[len(feeds)-1]
}

package sqlstore_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"circle/internal/social"
	"circle/internal/store/sqlstore"
)

func TestUpdateProfile(t *testing.T) {
	level, avatar, bio, guild, none := 7, "https://a.example/1.png", "Hi 👍", "guild", ""
	full := social.ProfileChange{Level: &level, AvatarURL: &avatar, Bio: &bio, GuildID: &guild}
	for _, c := range []struct {
		name    string
		change  social.ProfileChange
		version int64
		player  social.Player
		detail  social.PlayerDetail
	}{
		{"everything", full, 50,
			social.Player{Level: 7, AvatarURL: &avatar, Version: 50}, social.PlayerDetail{Bio: bio, GuildID: &guild, Version: 50}},
		{"nothing but the version", social.ProfileChange{}, 50,
			social.Player{Level: 1, Version: 50}, social.PlayerDetail{Version: 50}},
		{"a version that is behind still grows", social.ProfileChange{Level: &level}, 3,
			social.Player{Level: 7, Version: 11}, social.PlayerDetail{Version: 11}},
		{"an empty text removes", social.ProfileChange{AvatarURL: &none, GuildID: &none, Bio: &none}, 50,
			social.Player{Level: 1, Version: 50}, social.PlayerDetail{Version: 50}},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(f fixture) {
				f.players(5, 6)
				f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
					ok, err := tx.UpdateProfile(ctx, 5, c.change, c.version)
					require.True(f.t, ok)
					return err
				})
				players, err := f.Players().Load(f.t.Context(), []social.PlayerID{5, 6, 7})
				require.NoError(f.t, err)
				require.Len(f.t, players, 2)
				c.player.ID, c.player.Name = 5, "Player 5"
				require.Equal(f.t, &c.player, players[5])
				require.Equal(f.t, int64(10), players[6].Version, "the other player is untouched")
				details, err := f.Details().Load(f.t.Context(), []social.PlayerID{5})
				require.NoError(f.t, err)
				c.detail.ID, c.detail.JoinedAt = 5, joined
				require.Equal(f.t, &c.detail, details[5])
			})
		})
	}
}

func TestUnknownPlayersAreNotWritten(t *testing.T) {
	each(t, func(f fixture) {
		f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
			for name, write := range map[string]func() (bool, error){
				"profile":   func() (bool, error) { return tx.UpdateProfile(ctx, 9, social.ProfileChange{}, 20) },
				"counts":    func() (bool, error) { return tx.AddCounts(ctx, 9, social.PlayerCounts{Fans: 1}, 20) },
				"following": func() (bool, error) { return tx.AddFollowing(ctx, 9, social.PlayerCounts{Following: 1}, 5, 20) },
			} {
				ok, err := write()
				require.NoError(f.t, err, name)
				require.False(f.t, ok, name)
			}
			return nil
		})
	})
}

func TestCountsAddUpAndStopAtTheLimit(t *testing.T) {
	each(t, func(f fixture) {
		f.players(5)
		f.do(func(ctx context.Context, tx *sqlstore.Tx) error {
			ok, err := tx.AddCounts(ctx, 5, social.PlayerCounts{Feeds: 3, Fans: 2, Following: 1, Friends: 1}, 40)
			require.True(f.t, ok)
			return err
		})
		const limit, callers = 10, 30
		done := f.parallel(callers, func(ctx context.Context, _ int) (ok bool, err error) {
			err = f.InTx(ctx, func(tx *sqlstore.Tx) error {
				ok, err = tx.AddFollowing(ctx, 5, social.PlayerCounts{Following: 1}, limit, 20)
				return err
			})
			return ok, err
		})
		require.Equal(f.t, limit-1, done)
		details, err := f.Details().Load(f.t.Context(), []social.PlayerID{5})
		require.NoError(f.t, err)
		require.Equal(f.t, social.PlayerCounts{Feeds: 3, Fans: 2, Following: limit, Friends: 1}, details[5].PlayerCounts)
		require.Equal(f.t, int64(40+limit-1), details[5].Version)
	})
}

func TestPlayerByNameKey(t *testing.T) {
	each(t, func(f fixture) {
		f.players(5, 6)
		for key, want := range map[string]social.PlayerID{"player 6": 6, "Player 6": 0, "player 6 ": 0, "": 0} {
			id, err := f.PlayerByNameKey(f.t.Context(), key)
			require.NoError(f.t, err)
			require.Equal(f.t, want, id, "%q", key)
		}
	})
}

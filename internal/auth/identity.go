package auth

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"

	"circle/internal/social"
	"circle/internal/text"
)

// suffixLength is how many random characters make a name unique: 30 bits.
const suffixLength = 6

// playerOf tells whose an outside identity is, and makes a player when it is nobody's: named as the
// provider says, else with a suffix, else player-…. First requests that come at once give one player.
func (a *Accounts) playerOf(ctx context.Context, identity social.Identity, preferred string) (social.PlayerID, error) {
	player, err := a.Store.PlayerByIdentity(ctx, identity)
	if err != nil || player != 0 {
		return player, err
	}
	for _, candidate := range candidates(preferred) {
		name, key, err := text.Name(candidate)
		if err != nil {
			continue
		}
		player, err = a.createWithIdentity(ctx, name, key, identity)
		if social.CodeOf(err) != social.CodeNameTaken {
			return player, err
		}
	}
	return 0, errNoFreeName
}

var errNoFreeName = errors.New("no free name for an outside identity")

func (a *Accounts) createWithIdentity(ctx context.Context, name, key string, identity social.Identity) (social.PlayerID, error) {
	account, err := a.newAccount(ctx, name, key)
	if err != nil {
		return 0, err
	}
	account.Identity = &identity
	player, err := a.Store.CreateAccount(ctx, account)
	if err == nil && player == account.ID {
		a.Near.RunInline(ctx, []social.Event{account.Event})
	}
	return player, err
}

// candidates lists names to try for a player: the preferred one, that with a suffix, and names that are
// nobody's but by a very rare chance.
func candidates(preferred string) []string {
	names := []string{"player-" + suffix() + suffix(), "player-" + suffix() + suffix()}
	name := []rune(strings.TrimSpace(preferred))
	if len(name) == 0 {
		return names
	}
	name = name[:min(len(name), social.MaxNameLength-suffixLength-1)]
	return append([]string{preferred, string(name) + "-" + suffix()}, names...)
}

func suffix() string { return strings.ToLower(rand.Text()[:suffixLength]) }

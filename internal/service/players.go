package service

import (
	"context"
	"net/url"
	"unicode/utf8"

	"circle/internal/social"
	"circle/internal/text"
)

// Players reads and changes profiles.
type Players struct {
	*writer
	store   PlayerStore
	simple  *Entity[social.PlayerID, *social.Player]
	details *Entity[social.PlayerID, *social.PlayerDetail]
}

// ByIDs reads simple info, whoever may see it; unknown players are absent.
func (p *Players) ByIDs(ctx context.Context, ids []social.PlayerID) (map[social.PlayerID]*social.Player, error) {
	return p.simple.Get(ctx, ids)
}

// Details reads detail info; unknown players are absent. Of players whom the viewer blocks it is bare.
func (p *Players) Details(ctx context.Context, ids []social.PlayerID, relations map[social.PlayerID]social.Relation) (map[social.PlayerID]*social.PlayerDetail, error) {
	details, err := p.details.Get(ctx, ids)
	for id, detail := range details {
		if relations[id].Apart() {
			details[id] = detail.Bare()
		}
	}
	return details, err
}

// IDByName finds a player by name, in any case and width; 0 when there is none.
func (p *Players) IDByName(ctx context.Context, name string) (social.PlayerID, error) {
	key := text.FoldName(name)
	if key == "" || len(key) > text.MaxKeyLength {
		return 0, nil
	}
	return p.store.PlayerByNameKey(ctx, key)
}

// UpdateProfile changes the viewer's profile. Errors: TOO_LONG and INVALID at the field.
func (p *Players) UpdateProfile(ctx context.Context, viewer social.Viewer, change social.ProfileChange) error {
	if err := viewer.Require(); err != nil {
		return err
	}
	if err := checkProfile(change); err != nil {
		return err
	}
	return p.do(ctx, func(tx Tx) error {
		version, err := nextID(ctx, p.ids)
		if err != nil {
			return err
		}
		ok, err := tx.UpdateProfile(ctx, viewer.Player, change, version)
		if err != nil {
			return err
		}
		if !ok {
			return social.NotFound()
		}
		return tx.Append(ctx, social.Event{Kind: social.EventPlayer, Actor: viewer.Player, Subject: int64(viewer.Player)})
	})
}

func checkProfile(c social.ProfileChange) error {
	if c.Level != nil && (*c.Level < 0 || *c.Level > social.MaxLevel) {
		return social.Fail(social.CodeInvalid, "A level is between 0 and 1,000,000.", "level")
	}
	if c.Bio != nil && utf8.RuneCountInString(*c.Bio) > social.MaxBioLength {
		return social.Fail(social.CodeTooLong, "A bio has at most 1,000 characters.", "bio")
	}
	if c.GuildID != nil && utf8.RuneCountInString(*c.GuildID) > social.MaxGuildIDLength {
		return social.Fail(social.CodeTooLong, "A guild's id has at most 64 characters.", "guildId")
	}
	if c.AvatarURL == nil || *c.AvatarURL == "" {
		return nil
	}
	if len(*c.AvatarURL) > social.MaxAvatarURLLength {
		return social.Fail(social.CodeTooLong, "An avatar's address has at most 512 bytes.", "avatarUrl")
	}
	u, err := url.Parse(*c.AvatarURL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return social.Fail(social.CodeInvalid, "An avatar's address begins with http:// or https://.", "avatarUrl")
	}
	return nil
}

package social

import "time"

// Limits of a player's own texts.
const (
	MinNameLength      = 2
	MaxNameLength      = 20
	MaxAvatarURLLength = 512
	MaxBioLength       = 1000
	MaxGuildIDLength   = 64
	MaxLevel           = 1_000_000
)

// Player is a player's simple info: what every list shows.
type Player struct {
	ID        PlayerID
	Name      string
	Level     int
	AvatarURL *string
	// Version grows with each change.
	Version int64
}

// PlayerDetail is what only the profile page shows.
type PlayerDetail struct {
	ID       PlayerID
	Bio      string
	GuildID  *string
	JoinedAt time.Time
	PlayerCounts
	// Version grows with each change of the detail or of a count.
	Version int64
}

// Bare is what is left where only simple info is to be shown.
func (d *PlayerDetail) Bare() *PlayerDetail { return &PlayerDetail{ID: d.ID, JoinedAt: d.JoinedAt} }

// PlayerCounts are a player's counters. They are global: what a viewer may not see counts too.
type PlayerCounts struct {
	Feeds     int
	Fans      int
	Following int
	Friends   int
}

// ProfileChange says what of a profile to change; nil leaves as it is. AvatarURL and GuildID point
// to an empty string to remove.
type ProfileChange struct {
	Level     *int
	AvatarURL *string
	Bio       *string
	GuildID   *string
}

package loader

import (
	"context"

	"circle/internal/service"
	"circle/internal/social"
)

// reported sorts what reports name by what they call it. The feeds that reported comments are on are noted, so that
// a moderator finds them below the comments too.
func (l *Loaders) reported(ctx context.Context, c service.Content) map[social.Target]any {
	found := map[social.Target]any{}
	for id, feed := range c.Feeds {
		l.Feeds.Prime(ctx, id, feed)
		found[social.Target{Kind: social.TargetFeed, ID: int64(id)}] = feed
	}
	for id, comment := range c.Comments {
		if c.Feeds[comment.FeedID] != nil {
			found[social.Target{Kind: social.TargetComment, ID: int64(id)}] = comment
		}
	}
	for id, message := range c.Messages {
		found[social.Target{Kind: social.TargetMessage, ID: int64(id)}] = message
	}
	for id, player := range c.Players {
		found[social.Target{Kind: social.TargetPlayer, ID: int64(id)}] = player
	}
	return found
}

package app

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"circle/internal/service"
	"circle/internal/social"
)

// Explain prints why a feed is, or isn't, on a player's home page. The player is given by name, GraphQL id
// or external id, the feed by GraphQL id or external id.
func (c *Commands) Explain(ctx context.Context, player, feed string) error {
	viewer, err := c.anyPlayer(ctx, player)
	if err != nil {
		return err
	}
	id, err := social.ParseFeedID(feed)
	if err != nil {
		found, err := c.external(ctx, social.ExternalFeed, feed)
		if err != nil {
			return err
		}
		id = social.FeedID(found)
	}
	store := c.base.store
	explainer := service.Explainer{Feeds: store.Feeds(), Relations: store, Lists: store, Sources: store}
	cache, err := c.redis(ctx)
	if err != nil {
		c.options.Log.WarnContext(ctx, "the timeline can't be asked", "error", err)
	}
	if cache != nil {
		explainer.Homes = cache.Homes()
	}
	standing, err := store.Standing(ctx, viewer)
	if err != nil {
		return err
	}
	x, err := explainer.Explain(ctx, social.Viewer{Player: viewer, Role: standing.Role}, id)
	if err != nil {
		return err
	}
	if x == nil {
		return fmt.Errorf("there is no feed %q", feed)
	}
	return c.print(ctx, x)
}

func (c *Commands) print(ctx context.Context, x *service.Explanation) error {
	author := x.Head.AuthorID
	players, err := c.base.store.Players().Load(ctx, []social.PlayerID{x.Player, author})
	if err != nil {
		return err
	}
	viewer, by := named(players[x.Player], x.Player), named(players[author], author)
	lines := [][2]string{
		{"feed", fmt.Sprintf("%s of %s", x.Head.ID, x.Head.CreatedAt().UTC().Format(time.DateTime))},
		{"author", by},
		{"deleted", yes(x.Head.Deleted, "yes: it is on no page", "no")},
		{"hidden", yes(x.Head.Hidden, "yes: only its author and moderators see it", "no")},
		{"relation", relationLine(x, viewer, by)},
		{"visibility", fmt.Sprintf("%s: %s %s see it", x.Head.Visibility, viewer, yes(x.Visible, "may", "may not"))},
		{"definition", yes(x.Defined, "holds the feed, as SQL reads the home page", "does not hold the feed, as SQL reads the home page")},
		{"window", windowLine(x)},
		{"timeline", timelineLines[x.Timeline]},
		{"verdict", verdict(x, viewer, by)},
	}
	table := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	for _, line := range lines {
		_, _ = fmt.Fprintf(table, "%s\t%s\n", line[0], line[1])
	}
	return table.Flush()
}

func yes(is bool, then, otherwise string) string {
	if is {
		return then
	}
	return otherwise
}

func named(p *social.Player, id social.PlayerID) string {
	if p == nil {
		return id.String()
	}
	return fmt.Sprintf("%s (%s)", p.Name, id)
}

func relationLine(x *service.Explanation, viewer, author string) string {
	if x.Head.AuthorID == x.Player {
		return "it is the player's own"
	}
	line := fmt.Sprintf("%s %s %s, who %s back: %s", viewer, yes(x.Relation.Following, "follows", "does not follow"), author,
		yes(x.Relation.Fan, "follows", "does not follow"), yes(x.Relation.Friend(), "friends", "not friends"))
	return line + yes(x.Relation.Apart(), "; one blocks the other", "") + yes(x.Relation.Muted, "; muted", "")
}

func windowLine(x *service.Explanation) string {
	if x.Place > 0 {
		return fmt.Sprintf("number %d of the newest feeds that belong into the timeline", x.Place)
	}
	return "not among the newest feeds that belong into the timeline"
}

var timelineLines = map[service.TimelineView]string{
	service.TimelineUnknown: "not asked: this command can't reach Redis, which is embedded in the server or away",
	service.TimelineAbsent:  "not there: pages come from the relational store until the player reads and it is built",
	service.TimelineShort:   "ends above the feed: pages as deep come from the relational store",
	service.TimelineHolds:   "holds the feed",
	service.TimelinePulls:   "does not hold the feed yet: the author has so many fans that readers pull, with their next page",
	service.TimelineLacks:   "reaches the feed and does not hold it",
}

func verdict(x *service.Explanation, viewer, author string) string {
	switch {
	case x.Shown():
		return "on the home page"
	case x.Defined:
		return "not on the home page, though it should be, until the timeline is right: circle rebuild timelines"
	case x.Head.Deleted:
		return "not on the home page: it is deleted"
	case x.Head.AuthorID != x.Player && !x.Relation.Following:
		return fmt.Sprintf("not on the home page: %s does not follow %s", viewer, author)
	}
	if x.Visible {
		return fmt.Sprintf("not on the home page: %s has muted %s", viewer, author)
	}
	return fmt.Sprintf("not on the home page: %s may not see it", viewer)
}

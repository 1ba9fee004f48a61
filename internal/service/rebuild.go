package service

import (
	"context"

	"golang.org/x/sync/errgroup"

	"circle/internal/social"
)

// rebuilds is how many timelines one call builds anew at once.
const rebuilds = 4

// RebuildTimelines builds the players' timelines anew that are there; of others there is nothing to do. From
// dropping a timeline until it is whole again, its reader is served by the relational store. What is posted,
// deleted, followed and unfollowed meanwhile meets an absent timeline, and is read with the rest, or one that
// is being built, and is noted there.
func (x *Indexes) RebuildTimelines(ctx context.Context, players []social.PlayerID) error {
	asks := make([]social.WindowAsk, len(players))
	for i, player := range players {
		asks[i] = social.WindowAsk{ID: int64(player), After: social.MaxID + 1}
	}
	pages, err := x.lists.Timelines.Read(ctx, asks)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(rebuilds)
	for i, page := range pages {
		if page.State == social.WindowAbsent {
			continue
		}
		group.Go(func() error {
			// Building the list of pulled authors, which goes first, drops the timeline.
			if err := x.lists.Pulls.Drop(ctx, []int64{asks[i].ID}); err != nil {
				return err
			}
			_, err := x.lists.timelineBuild(players[i]).run(ctx)
			return err
		})
	}
	return group.Wait()
}

package fanout

import (
	"context"
	"fmt"

	"circle/internal/social"
)

// Timelines builds those of the players' timelines anew that are there.
type Timelines interface {
	RebuildTimelines(ctx context.Context, players []social.PlayerID) error
}

// playersPerRebuild bounds what is done again after a break.
const playersPerRebuild = 100

// TimelinesFar is the far stage of EventTimelines. Its place is the last player who has been served.
type TimelinesFar struct {
	Timelines Timelines
}

// Far runs the stage.
func (f *TimelinesFar) Far(ctx context.Context, event social.Event, place []byte, save func(context.Context, []byte) error) error {
	served, _ := placeOf(toPlayers, place)
	last := social.PlayerID(event.Object)
	for next := max(social.PlayerID(event.Subject), social.PlayerID(served)+1); next <= last; {
		var players []social.PlayerID
		for ; next <= last && len(players) < playersPerRebuild; next++ {
			players = append(players, next)
		}
		if err := f.Timelines.RebuildTimelines(ctx, players); err != nil {
			return fmt.Errorf("rebuild timelines: %w", err)
		}
		if err := save(ctx, packPlace(toPlayers, int64(next-1))); err != nil {
			return err
		}
	}
	return nil
}

package graph

import (
	"context"

	"circle/graph/loader"
	"circle/internal/social"
)

type viewerResolver struct{ *Resolver }

func (viewerResolver) Player(ctx context.Context, obj *social.Viewer) (*social.Player, error) {
	return loader.From(ctx).Players.Load(ctx, obj.Player)
}

package graph

import (
	"context"

	"circle/graph/loader"
	"circle/graph/model"
	"circle/internal/social"
)

type viewerResolver struct{}

func (viewerResolver) Player(ctx context.Context, obj *model.Viewer) (*social.Player, error) {
	return loader.From(ctx).Players.Load(ctx, obj.Player)
}

func (viewerResolver) Role(ctx context.Context, _ *model.Viewer) (social.Role, error) {
	return social.ViewerFrom(ctx).Role, nil
}

package graph

import (
	"context"
	"time"

	"circle/graph/loader"
	"circle/graph/model"
	"circle/internal/service"
	"circle/internal/social"
)

type playerResolver struct{ *Resolver }

func detail[T any](ctx context.Context, obj *social.Player, field func(*social.PlayerDetail) T) (T, error) {
	d, err := loader.From(ctx).Details.Load(ctx, obj.ID)
	if d == nil {
		d = &social.PlayerDetail{}
	}
	return field(d), err
}

func (playerResolver) Bio(ctx context.Context, obj *social.Player) (string, error) {
	return detail(ctx, obj, func(d *social.PlayerDetail) string { return d.Bio })
}

func (playerResolver) GuildID(ctx context.Context, obj *social.Player) (*string, error) {
	return detail(ctx, obj, func(d *social.PlayerDetail) *string { return d.GuildID })
}

func (playerResolver) FeedCount(ctx context.Context, obj *social.Player) (int, error) {
	return detail(ctx, obj, func(d *social.PlayerDetail) int { return d.Feeds })
}

func (playerResolver) FanCount(ctx context.Context, obj *social.Player) (int, error) {
	return detail(ctx, obj, func(d *social.PlayerDetail) int { return d.Fans })
}

func (playerResolver) FollowingCount(ctx context.Context, obj *social.Player) (int, error) {
	return detail(ctx, obj, func(d *social.PlayerDetail) int { return d.Following })
}

func (playerResolver) FriendCount(ctx context.Context, obj *social.Player) (int, error) {
	return detail(ctx, obj, func(d *social.PlayerDetail) int { return d.Friends })
}

func (playerResolver) JoinedAt(ctx context.Context, obj *social.Player) (*time.Time, error) {
	return detail(ctx, obj, func(d *social.PlayerDetail) *time.Time { return &d.JoinedAt })
}

func (playerResolver) IsFollowing(ctx context.Context, obj *social.Player) (bool, error) {
	relation, err := loader.From(ctx).Relations.Load(ctx, obj.ID)
	return relation.Following, err
}

func (playerResolver) IsFan(ctx context.Context, obj *social.Player) (bool, error) {
	relation, err := loader.From(ctx).Relations.Load(ctx, obj.ID)
	return relation.Fan, err
}

func (playerResolver) IsFriend(ctx context.Context, obj *social.Player) (bool, error) {
	relation, err := loader.From(ctx).Relations.Load(ctx, obj.ID)
	return relation.Friend(), err
}

func (playerResolver) IsBlocked(ctx context.Context, obj *social.Player) (bool, error) {
	relation, err := loader.From(ctx).Relations.Load(ctx, obj.ID)
	return relation.Blocking, err
}

func (playerResolver) IsMuted(ctx context.Context, obj *social.Player) (bool, error) {
	relation, err := loader.From(ctx).Relations.Load(ctx, obj.ID)
	return relation.Muted, err
}

func (r playerResolver) Feeds(ctx context.Context, obj *social.Player, first int, after *string) (*model.FeedConnection, error) {
	l := list{kind: listProfile, owner: int64(obj.ID)}
	args, err := r.page(ctx, l, first, after)
	if err != nil {
		return nil, err
	}
	ask := service.ProfileAsk{Author: obj.ID, First: args.First, Below: args.Below()}
	page, err := loader.From(ctx).Profiles.Load(ctx, ask)
	if err != nil {
		return nil, err
	}
	return r.feedConnection(ctx, l, args, page), nil
}

func (r playerResolver) Fans(ctx context.Context, obj *social.Player, first int, after *string) (*model.PlayerConnection, error) {
	return r.players(ctx, obj, listFans, social.ListFans, first, after)
}

func (r playerResolver) Following(ctx context.Context, obj *social.Player, first int, after *string) (*model.PlayerConnection, error) {
	return r.players(ctx, obj, listFollowing, social.ListFollowing, first, after)
}

func (r playerResolver) Friends(ctx context.Context, obj *social.Player, first int, after *string) (*model.PlayerConnection, error) {
	return r.players(ctx, obj, listFriends, social.ListFriends, first, after)
}

func (r *Resolver) players(ctx context.Context, obj *social.Player, kind listKind, of social.RelationList, first int, after *string) (*model.PlayerConnection, error) {
	l := list{kind: kind, owner: int64(obj.ID)}
	args, err := r.page(ctx, l, first, after)
	if err != nil {
		return nil, err
	}
	ask := service.PlayerListAsk{Owner: obj.ID, List: of, First: args.First, Below: args.Below()}
	page, err := loader.From(ctx).Lists.Load(ctx, ask)
	if err != nil {
		return nil, err
	}
	return r.playerConnection(l, args, ask, page), nil
}

type playerConnectionResolver struct{ *Resolver }

func (playerConnectionResolver) Nodes(ctx context.Context, obj *model.PlayerConnection) ([]*social.Player, error) {
	ids := make([]social.PlayerID, len(obj.Edges))
	for i, edge := range obj.Edges {
		ids[i] = edge.Player
	}
	return loader.From(ctx).Players.LoadAll(ctx, ids)
}

func (r playerConnectionResolver) TotalCount(ctx context.Context, obj *model.PlayerConnection) (int, error) {
	if obj.List > social.ListFriends {
		return r.Services.Relations.Count(ctx, obj.List, obj.Owner)
	}
	return detail(ctx, &social.Player{ID: obj.Owner}, func(d *social.PlayerDetail) int {
		switch obj.List {
		case social.ListFans:
			return d.Fans
		case social.ListFollowing:
			return d.Following
		}
		return d.Friends
	})
}

type playerEdgeResolver struct{}

func (playerEdgeResolver) Node(ctx context.Context, obj *model.PlayerEdge) (*social.Player, error) {
	return loader.From(ctx).Players.Load(ctx, obj.Player)
}

func (r mutationResolver) UpdateProfile(ctx context.Context, input model.UpdateProfileInput) (*model.PlayerPayload, error) {
	viewer := social.ViewerFrom(ctx)
	if err := viewer.Require(); err != nil {
		return nil, err
	}
	change, err := profileChange(input)
	if err == nil {
		err = r.Services.Players.UpdateProfile(ctx, viewer, change)
	}
	return r.playerPayload(ctx, viewer.Player, err)
}

// profileChange reads null as removal; of what can't be removed it is REQUIRED.
func profileChange(in model.UpdateProfileInput) (social.ProfileChange, error) {
	var change social.ProfileChange
	empty := ""
	if level, set := in.Level.ValueOK(); set {
		if level == nil {
			return change, social.Fail(social.CodeRequired, "A level can't be removed.", "level")
		}
		change.Level = level
	}
	for _, field := range []struct {
		value interface{ ValueOK() (*string, bool) }
		to    **string
	}{{in.AvatarURL, &change.AvatarURL}, {in.Bio, &change.Bio}, {in.GuildID, &change.GuildID}} {
		if value, set := field.value.ValueOK(); set {
			if value == nil {
				value = &empty
			}
			*field.to = value
		}
	}
	return change, nil
}

func (r mutationResolver) FollowPlayer(ctx context.Context, input model.PlayerInput) (*model.PlayerPayload, error) {
	return r.onPlayer(ctx, input, r.Services.Relations.Follow)
}

func (r mutationResolver) UnfollowPlayer(ctx context.Context, input model.PlayerInput) (*model.PlayerPayload, error) {
	return r.onPlayer(ctx, input, r.Services.Relations.Unfollow)
}

func (r mutationResolver) BlockPlayer(ctx context.Context, input model.PlayerInput) (*model.PlayerPayload, error) {
	return r.onPlayer(ctx, input, r.Services.Relations.Block)
}

func (r mutationResolver) UnblockPlayer(ctx context.Context, input model.PlayerInput) (*model.PlayerPayload, error) {
	return r.onPlayer(ctx, input, r.Services.Relations.Unblock)
}

func (r mutationResolver) MutePlayer(ctx context.Context, input model.PlayerInput) (*model.PlayerPayload, error) {
	return r.onPlayer(ctx, input, r.Services.Relations.Mute)
}

func (r mutationResolver) UnmutePlayer(ctx context.Context, input model.PlayerInput) (*model.PlayerPayload, error) {
	return r.onPlayer(ctx, input, r.Services.Relations.Unmute)
}

// onPlayer does something to the player of the input.
func (r mutationResolver) onPlayer(ctx context.Context, input model.PlayerInput, do func(context.Context, social.Viewer, social.PlayerID) error) (*model.PlayerPayload, error) {
	viewer := social.ViewerFrom(ctx)
	if err := viewer.Require(); err != nil {
		return nil, err
	}
	id, err := social.ParsePlayerID(input.PlayerID)
	if err != nil {
		return r.playerPayload(ctx, 0, social.At(err, "playerId"))
	}
	return r.playerPayload(ctx, id, do(ctx, viewer, id))
}

// playerPayload shows the player as it is now, also beside a user error.
func (r mutationResolver) playerPayload(ctx context.Context, id social.PlayerID, err error) (*model.PlayerPayload, error) {
	userErrors, err := split(err)
	if err != nil {
		return nil, err
	}
	payload := &model.PlayerPayload{UserErrors: userErrors}
	if id != 0 {
		payload.Player, err = loader.From(ctx).Known.Load(ctx, id)
	}
	return payload, err
}

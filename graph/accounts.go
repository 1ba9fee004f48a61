package graph

import (
	"context"

	"circle/graph/loader"
	"circle/graph/model"
	"circle/internal/auth"
	"circle/internal/social"
)

type mutationResolver struct{ *Resolver }

func (r mutationResolver) SignUp(ctx context.Context, input model.SignUpInput) (*model.SessionPayload, error) {
	return sessionPayload(r.Accounts.SignUp(ctx, input.Name, input.Password))
}

func (r mutationResolver) LogIn(ctx context.Context, input model.LogInInput) (*model.SessionPayload, error) {
	return sessionPayload(r.Accounts.LogIn(ctx, input.Name, input.Password))
}

func (r mutationResolver) RefreshSession(ctx context.Context, input model.RefreshSessionInput) (*model.SessionPayload, error) {
	return sessionPayload(r.Accounts.Refresh(ctx, input.RefreshToken))
}

func (r mutationResolver) LogOut(ctx context.Context) (*model.LogOutPayload, error) {
	userErrors, err := split(r.Accounts.LogOut(ctx, social.ViewerFrom(ctx)))
	if err != nil {
		return nil, err
	}
	return &model.LogOutPayload{UserErrors: userErrors}, nil
}

func sessionPayload(login auth.Login, err error) (*model.SessionPayload, error) {
	userErrors, err := split(err)
	if err != nil {
		return nil, err
	}
	payload := &model.SessionPayload{UserErrors: userErrors}
	if len(userErrors) == 0 {
		payload.Session = &model.Session{
			AccessToken: login.AccessToken, RefreshToken: login.RefreshToken,
			ExpiresAt: login.ExpiresAt, Player: login.Player,
		}
	}
	return payload, nil
}

type sessionResolver struct{}

func (sessionResolver) Player(ctx context.Context, obj *model.Session) (*social.Player, error) {
	return loader.From(ctx).Players.Load(ctx, obj.Player)
}

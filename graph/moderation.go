package graph

import (
	"context"

	"circle/graph/loader"
	"circle/graph/model"
	"circle/internal/social"
)

type reportResolver struct{}

func (reportResolver) Reporter(ctx context.Context, obj *social.Report) (*social.Player, error) {
	return loader.From(ctx).Players.Load(ctx, obj.Reporter)
}

func (reportResolver) Target(ctx context.Context, obj *social.Report) (model.Node, error) {
	return loader.From(ctx).Reported.Load(ctx, obj.Target)
}

func (r queryResolver) Reports(ctx context.Context, first int, after *string) (*model.ReportConnection, error) {
	viewer := social.ViewerFrom(ctx)
	if err := viewer.RequireRole(social.RoleModerator); err != nil {
		return nil, err
	}
	l := list{kind: listReports}
	args, err := r.page(ctx, l, first, after)
	if err != nil {
		return nil, err
	}
	page, err := r.Services.Moderation.Reports(ctx, viewer, args)
	if err != nil {
		return nil, err
	}
	c := &model.ReportConnection{Edges: make([]*model.ReportEdge, len(page.Items)), Nodes: page.Items}
	for i, report := range page.Items {
		c.Edges[i] = &model.ReportEdge{Cursor: r.Cursors.encode(l, social.Position{Key: int64(report.ID)}), Node: report}
	}
	c.PageInfo = pageInfo(args, page.HasNext, len(c.Edges), func(i int) string { return c.Edges[i].Cursor })
	return c, nil
}

func (r mutationResolver) ReportContent(ctx context.Context, input model.ReportContentInput) (*model.ReportContentPayload, error) {
	viewer := social.ViewerFrom(ctx)
	if err := viewer.Require(); err != nil {
		return nil, err
	}
	target, err := social.ParseTarget(input.ID)
	if err == nil {
		err = r.Services.Moderation.Report(ctx, viewer, target, input.Reason)
	}
	userErrors, err := split(social.At(err, "id"))
	if err != nil {
		return nil, err
	}
	return &model.ReportContentPayload{UserErrors: userErrors}, nil
}

func (r mutationResolver) ResolveReport(ctx context.Context, input model.ResolveReportInput) (*model.ReportPayload, error) {
	viewer := social.ViewerFrom(ctx)
	if err := viewer.RequireRole(social.RoleModerator); err != nil {
		return nil, err
	}
	var report *social.Report
	id, err := social.ParseReportID(input.ReportID)
	if err == nil {
		report, err = r.Services.Moderation.Resolve(ctx, viewer, id)
	}
	userErrors, err := split(social.At(err, "reportId"))
	if err != nil {
		return nil, err
	}
	return &model.ReportPayload{Report: report, UserErrors: userErrors}, nil
}

func (r mutationResolver) HideFeed(ctx context.Context, input model.FeedInput) (*model.FeedPayload, error) {
	return r.onFeed(ctx, input, r.Services.Moderation.Hide)
}

func (r mutationResolver) UnhideFeed(ctx context.Context, input model.FeedInput) (*model.FeedPayload, error) {
	return r.onFeed(ctx, input, r.Services.Moderation.Unhide)
}

// onFeed has a moderator do something to the feed of the input.
func (r mutationResolver) onFeed(ctx context.Context, input model.FeedInput, do func(context.Context, social.Viewer, social.FeedID) (*social.Feed, error)) (*model.FeedPayload, error) {
	viewer := social.ViewerFrom(ctx)
	if err := viewer.RequireRole(social.RoleModerator); err != nil {
		return nil, err
	}
	id, err := social.ParseFeedID(input.FeedID)
	if err != nil {
		return feedPayload(nil, social.At(err, "feedId"))
	}
	return feedPayload(do(ctx, viewer, id))
}

func (r mutationResolver) SuspendPlayer(ctx context.Context, input model.PlayerInput) (*model.PlayerPayload, error) {
	return r.onPlayer(ctx, input, r.Accounts.Suspend)
}

func (r mutationResolver) ReinstatePlayer(ctx context.Context, input model.PlayerInput) (*model.PlayerPayload, error) {
	return r.onPlayer(ctx, input, r.Accounts.Reinstate)
}

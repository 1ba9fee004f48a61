package graph

import (
	"context"
	"time"

	"circle/graph/loader"
	"circle/graph/model"
	"circle/internal/service"
	"circle/internal/social"
)

type messageResolver struct{}

func (messageResolver) Sender(ctx context.Context, obj *social.Message) (*social.Player, error) {
	return loader.From(ctx).Players.Load(ctx, obj.Sender)
}

func (messageResolver) Recipient(ctx context.Context, obj *social.Message) (*social.Player, error) {
	return loader.From(ctx).Players.Load(ctx, obj.Recipient)
}

func (messageResolver) ReadAt(ctx context.Context, obj *social.Message) (*time.Time, error) {
	return loader.From(ctx).ReadAts.Load(ctx, obj)
}

type conversationResolver struct{ *Resolver }

func (conversationResolver) Peer(ctx context.Context, obj *social.Conversation) (*social.Player, error) {
	return loader.From(ctx).Players.Load(ctx, obj.Peer)
}

func (conversationResolver) LastMessage(ctx context.Context, obj *social.Conversation) (*social.Message, error) {
	return loader.From(ctx).Messages.Load(ctx, obj.Last)
}

func (r conversationResolver) Messages(ctx context.Context, obj *social.Conversation, first int, after *string) (*model.MessageConnection, error) {
	l := list{kind: listMessages, owner: int64(obj.Peer), viewer: obj.Player}
	args, err := r.page(ctx, l, first, after)
	if err != nil {
		return nil, err
	}
	ask := service.ConversationPageAsk{Key: obj.Key(), First: args.First, Below: social.MessageID(args.Below())}
	page, err := loader.From(ctx).ConversationPages.Load(ctx, ask)
	if err != nil {
		return nil, err
	}
	return r.messageConnection(ctx, l, args, page), nil
}

func (r *Resolver) messageConnection(ctx context.Context, l list, args social.PageArgs, page social.Page[*social.Message]) *model.MessageConnection {
	c := &model.MessageConnection{Edges: make([]*model.MessageEdge, len(page.Items)), Nodes: page.Items}
	for i, message := range page.Items {
		loader.From(ctx).Messages.Prime(ctx, message.ID, message)
		c.Edges[i] = &model.MessageEdge{Cursor: r.Cursors.encode(l, social.Position{Key: int64(message.ID)}), Node: message}
	}
	c.PageInfo = pageInfo(args, page.HasNext, len(c.Edges), func(i int) string { return c.Edges[i].Cursor })
	return c
}

func (r viewerResolver) UnreadCounts(ctx context.Context, obj *social.Viewer) (*social.UnreadCounts, error) {
	counts, err := r.Services.Messages.Unread(ctx, *obj)
	return &counts, err
}

func (r viewerResolver) Inbox(ctx context.Context, obj *social.Viewer, first int, after *string) (*model.MessageConnection, error) {
	l := list{kind: listInbox, owner: int64(obj.Player)}
	args, err := r.page(ctx, l, first, after)
	if err != nil {
		return nil, err
	}
	page, people, err := r.Services.Messages.Inbox(ctx, *obj, args)
	if err != nil {
		return nil, err
	}
	loader.From(ctx).PrimePeople(ctx, people)
	return r.messageConnection(ctx, l, args, page), nil
}

func (r viewerResolver) Conversations(ctx context.Context, obj *social.Viewer, first int, after *string) (*model.ConversationConnection, error) {
	l := list{kind: listConversations, owner: int64(obj.Player)}
	args, err := r.page(ctx, l, first, after)
	if err != nil {
		return nil, err
	}
	page, err := r.Services.Messages.Conversations(ctx, *obj, args)
	if err != nil {
		return nil, err
	}
	c := &model.ConversationConnection{
		Edges: make([]*model.ConversationEdge, len(page.Items)),
		Nodes: make([]*social.Conversation, len(page.Items)),
	}
	for i := range page.Items {
		conversation := &page.Items[i]
		c.Nodes[i] = conversation
		c.Edges[i] = &model.ConversationEdge{
			Cursor: r.Cursors.encode(l, social.Position{Key: int64(conversation.Last)}), Node: conversation,
		}
	}
	c.PageInfo = pageInfo(args, page.HasNext, len(c.Edges), func(i int) string { return c.Edges[i].Cursor })
	return c, nil
}

func (r mutationResolver) SendMessage(ctx context.Context, input model.SendMessageInput) (*model.MessagePayload, error) {
	viewer := social.ViewerFrom(ctx)
	if err := viewer.Require(); err != nil {
		return nil, err
	}
	var message *social.Message
	recipient, err := social.ParsePlayerID(input.RecipientID)
	if err != nil {
		err = social.At(err, "recipientId")
	} else {
		message, err = r.Services.Messages.Send(ctx, viewer, service.NewMessage{
			Recipient: recipient, Content: input.Content, Key: input.IdempotencyKey,
		})
	}
	userErrors, err := split(err)
	if err != nil {
		return nil, err
	}
	return &model.MessagePayload{Message: message, UserErrors: userErrors}, nil
}

func (r mutationResolver) DeleteMessage(ctx context.Context, input model.MessageInput) (*model.DeleteMessagePayload, error) {
	viewer := social.ViewerFrom(ctx)
	if err := viewer.Require(); err != nil {
		return nil, err
	}
	id, err := social.ParseMessageID(input.MessageID)
	if err == nil {
		err = r.Services.Messages.Delete(ctx, viewer, id)
	}
	userErrors, err := split(social.At(err, "messageId"))
	if err != nil {
		return nil, err
	}
	payload := &model.DeleteMessagePayload{UserErrors: userErrors}
	if len(userErrors) == 0 {
		deleted := id.String()
		payload.DeletedMessageID = &deleted
	}
	return payload, nil
}

func (r mutationResolver) MarkConversationRead(ctx context.Context, input model.MarkConversationReadInput) (*model.ConversationPayload, error) {
	viewer := social.ViewerFrom(ctx)
	if err := viewer.Require(); err != nil {
		return nil, err
	}
	var conversation *social.Conversation
	key, err := social.ParseConversationKey(input.ConversationID)
	if err == nil {
		conversation, err = r.Services.Messages.MarkRead(ctx, viewer, key)
	}
	userErrors, err := split(social.At(err, "conversationId"))
	if err != nil {
		return nil, err
	}
	return &model.ConversationPayload{Conversation: conversation, UserErrors: userErrors}, nil
}

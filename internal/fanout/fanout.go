// Package fanout knows what each kind of event does to the indexes. Its handlers are
// level-triggered: an event only says where to look, so it may come twice, late or out of order.
package fanout

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"circle/internal/failpoint"
	"circle/internal/social"
)

// Refresher makes sure that Redis says nothing older of the keys than the relational store says now.
type Refresher[K comparable] interface {
	Refresh(ctx context.Context, keys []K) error
}

// Lists makes the lists in Redis say what the rows say.
type Lists interface {
	// Feed settles whether a feed is in its author's profile list and timeline.
	Feed(ctx context.Context, id social.FeedID) error
	// Edge settles what two players are to each other, and the second's feeds in the first's timeline.
	Edge(ctx context.Context, player, peer social.PlayerID) error
	// Like settles whether a feed is among those that a player likes, and he among those who like it.
	Like(ctx context.Context, key social.LikeKey) error
	// Message settles whether a message is in its recipient's inbox.
	Message(ctx context.Context, id social.MessageID, recipient social.PlayerID) error
	// Comment settles whether a comment, and an emptied head of its thread, are in their lists.
	Comment(ctx context.Context, id social.CommentID) error
}

// Near runs near stages.
type Near struct {
	Lists Lists
	// Simple and Details are entities of players.
	Simple, Details Refresher[social.PlayerID]
	// Heads, Bodies and Counters are entities of feeds.
	Heads, Bodies, Counters Refresher[social.FeedID]
	Messages                Refresher[social.MessageID]
	// Comments are comments with the heads of their threads.
	Comments Refresher[social.CommentID]
	Logs     Logs
}

// Near brings the indexes of all the events' subjects up to date, with one refresh per kind of
// entity. When it fails, some of them may be.
func (n *Near) Near(ctx context.Context, events []social.Event) error {
	simple, details := set[social.PlayerID]{}, set[social.PlayerID]{}
	heads, counters := set[social.FeedID]{}, set[social.FeedID]{}
	messages := set[social.MessageID]{}
	comments := set[social.CommentID]{}
	for _, e := range events {
		switch e.Kind {
		case social.EventPlayer:
			simple.add(social.PlayerID(e.Subject))
			details.add(social.PlayerID(e.Subject))
		case social.EventFeed, social.EventFeedShown:
			heads.add(social.FeedID(e.Subject))
			counters.add(social.FeedID(e.Subject))
			details.add(e.Actor)
		case social.EventEdge:
			details.add(social.PlayerID(e.Subject))
			details.add(social.PlayerID(e.Object))
		case social.EventLike:
			counters.add(social.FeedID(e.Subject))
		case social.EventComment:
			counters.add(social.FeedID(e.Subject))
			comments.add(social.CommentID(e.Object))
		case social.EventConversation:
			if e.Subject != 0 {
				messages.add(social.MessageID(e.Subject))
			}
		case social.EventTimelines:
			// All of it is far.
		default:
			return fmt.Errorf("near stage: unknown kind of event %d", e.Kind)
		}
	}
	tasks := []func() error{
		task(ctx, "simple info", n.Simple, simple),
		task(ctx, "details", n.Details, details),
		task(ctx, "heads", n.Heads, heads),
		task(ctx, "bodies", n.Bodies, heads),
		task(ctx, "counters", n.Counters, counters),
		task(ctx, "messages", n.Messages, messages),
		task(ctx, "comments", n.Comments, comments),
	}
	for _, e := range events {
		tasks = append(tasks, func() error { return n.list(ctx, e) })
	}
	if err := all(tasks...); err != nil {
		return err
	}
	return n.tellCounters(ctx, events)
}

// list settles the lists that an event's subject is in.
func (n *Near) list(ctx context.Context, e social.Event) error {
	switch e.Kind {
	case social.EventFeed, social.EventFeedShown:
		return n.Lists.Feed(ctx, social.FeedID(e.Subject))
	case social.EventEdge:
		return n.Lists.Edge(ctx, social.PlayerID(e.Subject), social.PlayerID(e.Object))
	case social.EventLike:
		return n.Lists.Like(ctx, social.LikeKey{Feed: social.FeedID(e.Subject), Player: social.PlayerID(e.Object)})
	case social.EventConversation:
		if e.Subject != 0 {
			return n.Lists.Message(ctx, social.MessageID(e.Subject), social.PlayerID(e.Object))
		}
	case social.EventComment:
		return n.Lists.Comment(ctx, social.CommentID(e.Object))
	}
	return nil
}

type set[K interface{ ~int64 }] map[K]struct{}

func (s set[K]) add(k K) { s[k] = struct{}{} }

// task is a refresh of the keys, nil when there are none.
func task[K interface{ ~int64 }](ctx context.Context, what string, r Refresher[K], keys set[K]) func() error {
	if len(keys) == 0 {
		return nil
	}
	return func() error {
		if err := r.Refresh(ctx, slices.Sorted(maps.Keys(keys))); err != nil {
			return fmt.Errorf("refresh %s: %w", what, err)
		}
		failpoint.Hit(failpoint.AmidNear)
		return nil
	}
}

// all runs the tasks side by side, each to its end, and joins their errors.
func all(tasks ...func() error) error {
	tasks = slices.DeleteFunc(tasks, func(t func() error) bool { return t == nil })
	if len(tasks) == 1 {
		return tasks[0]()
	}
	errs := make([]error, len(tasks))
	var running sync.WaitGroup
	for i, t := range tasks {
		running.Go(func() { errs[i] = t() })
	}
	running.Wait()
	return errors.Join(errs...)
}

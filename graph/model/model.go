// Package model holds the shapes of answers: those that gqlgen makes of the schema, and those that
// carry what a resolver below them needs to know.
package model

import (
	"time"

	"circle/internal/social"
)

// Node is any of the types with a global id: *social.Player, *social.Feed, *social.Like, *social.Comment,
// *social.Message or *social.Conversation.
type Node any

// PlayerConnection is a page of a player's list of players.
type PlayerConnection struct {
	// Owner and List say whose list this is, for the fields that are read only when asked for.
	Owner    social.PlayerID
	List     social.RelationList
	Edges    []*PlayerEdge
	PageInfo *PageInfo
}

// PlayerEdge is a player in a list.
type PlayerEdge struct {
	Cursor string
	Player social.PlayerID
	Since  time.Time
}

// LikeConnection is a page of the likes of a feed.
type LikeConnection struct {
	// Feed says whose likes these are, for the fields that are read only when asked for.
	Feed     social.FeedID
	Edges    []*LikeEdge
	Nodes    []*social.Like
	PageInfo *PageInfo
}

// CommentConnection is a page of a list of comments.
type CommentConnection struct {
	// Feed says whose comments these are; Head is the comment whose answers these are, nil for those on
	// the feed itself. Both are for the fields that are read only when asked for.
	Feed     social.FeedID
	Head     *social.Comment
	Edges    []*CommentEdge
	Nodes    []*social.Comment
	PageInfo *PageInfo
}

// Session is a login, with the player's id in place of the player.
type Session struct {
	AccessToken  string
	RefreshToken string
	ExpiresAt    time.Time
	Player       social.PlayerID
}

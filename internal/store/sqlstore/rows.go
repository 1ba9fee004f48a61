package sqlstore

import (
	"time"

	"circle/internal/social"
)

// Rows as GORM writes them. Reads in bulk are spelled out where they are made.

// edgeRow is one of the two mirrored rows of a pair of players.
type edgeRow struct {
	PlayerID    social.PlayerID `gorm:"column:player_id;primaryKey;autoIncrement:false"`
	PeerID      social.PlayerID `gorm:"column:peer_id;primaryKey;autoIncrement:false"`
	FollowingID social.EdgeID   `gorm:"column:following_id"`
	FanID       social.EdgeID   `gorm:"column:fan_id"`
	FriendID    social.EdgeID   `gorm:"column:friend_id"`
	BlockID     social.EdgeID   `gorm:"column:block_id"`
	BlockedID   social.EdgeID   `gorm:"column:blocked_id"`
	MuteID      social.EdgeID   `gorm:"column:mute_id"`
	MutedID     social.EdgeID   `gorm:"column:muted_id"`
	// Tied marks the few rows that ListBlocked, ListBlockers and ListMuted are read from.
	Tied bool `gorm:"column:tied"`
}

// TableName names the row's table.
func (edgeRow) TableName() string { return "edges" }

// edgeRows are both rows of a pair in id order.
func edgeRows(e social.Edge) []edgeRow {
	if e.Player > e.Peer {
		e = e.Mirror()
	}
	rows := make([]edgeRow, 0, 2)
	for _, e := range []social.Edge{e, e.Mirror()} {
		rows = append(rows, edgeRow{
			PlayerID: e.Player, PeerID: e.Peer, FollowingID: e.Following, FanID: e.Fan, FriendID: e.Friend,
			BlockID: e.Block, BlockedID: e.Blocked, MuteID: e.Mute, MutedID: e.Muted, Tied: e.Block|e.Blocked|e.Mute != 0,
		})
	}
	return rows
}

func (r edgeRow) edge() social.Edge {
	return social.Edge{
		Player: r.PlayerID, Peer: r.PeerID, Following: r.FollowingID, Fan: r.FanID, Friend: r.FriendID,
		Block: r.BlockID, Blocked: r.BlockedID, Mute: r.MuteID, Muted: r.MutedID,
	}
}

// feedRow is the head of a feed.
type feedRow struct {
	ID         social.FeedID     `gorm:"column:id;primaryKey;autoIncrement:false"`
	AuthorID   social.PlayerID   `gorm:"column:author_id"`
	Visibility social.Visibility `gorm:"column:visibility"`
	Deleted    bool              `gorm:"column:deleted"`
	Hidden     bool              `gorm:"column:hidden"`
	Excerpt    string            `gorm:"column:excerpt"`
	Whole      bool              `gorm:"column:whole"`
	EditedAt   *time.Time        `gorm:"column:edited_at"`
	Version    int64             `gorm:"column:version"`
}

// TableName names the row's table.
func (feedRow) TableName() string { return "feeds" }

func newFeedRow(f social.Feed) feedRow {
	return feedRow{
		ID: f.ID, AuthorID: f.AuthorID, Visibility: f.Visibility, Deleted: f.Deleted, Hidden: f.Hidden, Excerpt: f.Excerpt,
		Whole: f.Whole, EditedAt: milliseconds(f.EditedAt), Version: f.Version,
	}
}

func (r feedRow) feed() *social.Feed {
	return &social.Feed{
		ID: r.ID, AuthorID: r.AuthorID, Visibility: r.Visibility, Deleted: r.Deleted, Hidden: r.Hidden, Excerpt: r.Excerpt,
		Whole: r.Whole, EditedAt: r.EditedAt, Version: r.Version,
	}
}

// milliseconds cuts a time to what DATETIME(3) holds; MySQL would round.
func milliseconds(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	cut := t.UTC().Truncate(time.Millisecond)
	return &cut
}

// feedBodyRow is the whole of a long text.
type feedBodyRow struct {
	FeedID  social.FeedID `gorm:"column:feed_id;primaryKey;autoIncrement:false"`
	Codec   uint8         `gorm:"column:codec"`
	Content []byte        `gorm:"column:content"`
	Version int64         `gorm:"column:version"`
}

// TableName names the row's table.
func (feedBodyRow) TableName() string { return "feed_bodies" }

// feedCountsRow holds a feed's counters.
type feedCountsRow struct {
	FeedID     social.FeedID     `gorm:"column:feed_id;primaryKey;autoIncrement:false"`
	AuthorID   social.PlayerID   `gorm:"column:author_id"`
	Visibility social.Visibility `gorm:"column:visibility"`
	Deleted    bool              `gorm:"column:deleted"`
	Hidden     bool              `gorm:"column:hidden"`
	Likes      int               `gorm:"column:likes"`
	Comments   int               `gorm:"column:comments"`
	Heads      int               `gorm:"column:heads"`
	Views      int               `gorm:"column:views"`
	Version    int64             `gorm:"column:version"`
}

// TableName names the row's table.
func (feedCountsRow) TableName() string { return "feed_counts" }

func (r feedCountsRow) counters() *social.FeedCounters {
	return &social.FeedCounters{
		FeedID: r.FeedID, AuthorID: r.AuthorID, Visibility: r.Visibility, Deleted: r.Deleted, Hidden: r.Hidden,
		Likes: r.Likes, Comments: r.Comments, Heads: r.Heads, Views: r.Views, Version: r.Version,
	}
}

// commentRow is a comment.
type commentRow struct {
	ID       social.CommentID `gorm:"column:id;primaryKey;autoIncrement:false"`
	FeedID   social.FeedID    `gorm:"column:feed_id"`
	AuthorID social.PlayerID  `gorm:"column:author_id"`
	RootID   social.CommentID `gorm:"column:root_id"`
	ReplyTo  social.CommentID `gorm:"column:reply_to"`
	Deleted  bool             `gorm:"column:deleted"`
	Listed   bool             `gorm:"column:listed"`
	Replies  int              `gorm:"column:replies"`
	Content  string           `gorm:"column:content"`
	Version  int64            `gorm:"column:version"`
}

// TableName names the row's table.
func (commentRow) TableName() string { return "comments" }

func newCommentRow(c social.Comment) commentRow {
	return commentRow{
		ID: c.ID, FeedID: c.FeedID, AuthorID: c.AuthorID, RootID: c.RootID, ReplyTo: c.ReplyToID, Deleted: c.Deleted,
		Listed: c.Listed(), Replies: c.ReplyCount, Content: c.Content, Version: c.Version,
	}
}

func (r commentRow) comment() *social.Comment {
	return &social.Comment{
		ID: r.ID, FeedID: r.FeedID, AuthorID: r.AuthorID, RootID: r.RootID, ReplyToID: r.ReplyTo, Deleted: r.Deleted,
		ReplyCount: r.Replies, Content: r.Content, Version: r.Version,
	}
}

// sessionRow is a login.
type sessionRow struct {
	ID        social.SessionID `gorm:"column:id;primaryKey;autoIncrement:false"`
	PlayerID  social.PlayerID  `gorm:"column:player_id"`
	ExpiresAt *time.Time       `gorm:"column:expires_at"`
	EndedAt   *time.Time       `gorm:"column:ended_at"`
}

// TableName names the row's table.
func (sessionRow) TableName() string { return "sessions" }

// refreshTokenRow is a refresh token of a session.
type refreshTokenRow struct {
	Hash      []byte           `gorm:"column:hash;primaryKey"`
	SessionID social.SessionID `gorm:"column:session_id"`
	ExpiresAt *time.Time       `gorm:"column:expires_at"`
	UsedAt    *time.Time       `gorm:"column:used_at"`
}

// TableName names the row's table.
func (refreshTokenRow) TableName() string { return "refresh_tokens" }

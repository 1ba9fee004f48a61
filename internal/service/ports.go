// Package service holds the use cases: what a player can do and see, a file per noun. It declares
// the small interfaces that it needs of the stores; package app joins the two.
package service

import (
	"context"
	"time"

	"circle/internal/social"
)

// IDs makes identifiers.
type IDs interface {
	Next(ctx context.Context) (int64, error)
}

// Truth is one kind of entity in the relational store, read in bulk on the primary. Keys without
// a row are absent from the answer.
type Truth[K comparable, V any] interface {
	Load(ctx context.Context, keys []K) (map[K]V, error)
}

// Cache is one kind of entity in Redis. Values of another index epoch are absent. All errors mean
// that the relational store should be asked instead.
type Cache[K comparable, V any] interface {
	Get(ctx context.Context, keys []K) (map[K]V, error)
	// Reserve leaves a ticket where there is no value. Tickets of others are respected, unless over
	// is set: then their fills come to nothing.
	Reserve(ctx context.Context, keys []K, over bool) (ticket string, err error)
	// Put stores each value where the ticket still lies, or over an older version.
	Put(ctx context.Context, values map[K]V, ticket string) error
	// Remove makes the keys absent.
	Remove(ctx context.Context, keys []K) error
}

// PageCache reads what every list of feeds shows.
type PageCache interface {
	// Cards reads the heads and counters of feeds and whether the viewer likes them, in one trip.
	Cards(ctx context.Context, viewer social.PlayerID, ids []social.FeedID) (social.Cards, error)
	// People reads the simple info of the players in infos, and what those in relations are to the
	// viewer, in one trip where both are on one deployment.
	People(ctx context.Context, viewer social.PlayerID, infos, relations []social.PlayerID) (social.People, error)
	// Likers reads a piece of the likers of each feed, and some of the viewer's friends, in one trip where
	// both are on one deployment.
	Likers(ctx context.Context, viewer social.PlayerID, asks []social.WindowAsk) (social.Likers, error)
}

// Window is one kind of ordered list in Redis. A list exists once it was built; until then it is
// absent, and nothing is pushed into it. All errors mean that the relational store should be asked.
type Window interface {
	// Read reads a piece of each list, in the order of asks.
	Read(ctx context.Context, asks []social.WindowAsk) ([]social.WindowPage, error)
	// Has tells which members are in a list, in their order.
	Has(ctx context.Context, list int64, members []int64) ([]social.Membership, error)
	// Push adds an entry to each of the lists that is there or being built.
	Push(ctx context.Context, lists []int64, entry social.Entry) error
	// Remove takes members out of each of the lists, also out of those that are being built.
	Remove(ctx context.Context, lists, members []int64) error
	// Begin begins to build a list; ok is false when that is not needed.
	Begin(ctx context.Context, list int64) (token string, ok bool, err error)
	// Finish makes a list whole with what was read since Begin, at most 1,000 entries.
	Finish(ctx context.Context, list int64, token string, entries []social.Entry, floor int64) (ok bool, err error)
	// Resume draws a token for Grow; ok is false when the list is absent, has no end or no room.
	Resume(ctx context.Context, list int64) (token string, floor int64, ok bool, err error)
	// Grow adds what was read since Resume from the floor on, at most 1,000 entries.
	Grow(ctx context.Context, list int64, token string, entries []social.Entry, floor int64) (ok bool, err error)
}

// DropWindow is a Window that can be built anew.
type DropWindow interface {
	Window
	// Drop makes lists absent.
	Drop(ctx context.Context, lists []int64) error
}

// MergeWindow is a Window into which many entries can be put at once, and that can be built anew.
type MergeWindow interface {
	DropWindow
	// Merge adds entries, nearest first, as far as the list reaches.
	Merge(ctx context.Context, list int64, entries []social.Entry) error
}

// EachWindow is a Window of which many lists can be asked at once.
type EachWindow interface {
	Window
	// HasEach tells for each of the lists which members are in it, in their order.
	HasEach(ctx context.Context, lists, members []int64) ([]social.Members, error)
}

// FeedWindow is a Window of feeds, the newest first.
type FeedWindow interface {
	Window
	// Above reads the newest entries of each list above a key, in the order of asks.
	Above(ctx context.Context, asks []social.AboveAsk) ([]social.WindowPage, error)
}

// PlayerWindow is a Window of players.
type PlayerWindow interface {
	Window
	// In tells of each list whether a member is in it, as the primary knows.
	In(ctx context.Context, lists []int64, member int64) ([]social.Presence, error)
}

// HomeWindows are timelines, each read together with the list of pulled authors that goes with it.
type HomeWindows interface {
	// Read reads a piece of a player's timeline and his pulled authors; absent when one of the two is.
	Read(ctx context.Context, ask social.WindowAsk) (social.HomeWindow, error)
	// Pull merges feeds into a player's timeline, nearest first, moves positions and reads.
	Pull(ctx context.Context, ask social.WindowAsk, feeds []social.Entry, moves []social.PositionMove) (social.HomeWindow, error)
}

// TxStore runs fn in one transaction and commits it when fn returns nil. On a deadlock, a lock
// wait or a snapshot conflict the whole of fn runs again, so fn must keep no state of its own.
type TxStore interface {
	InTx(ctx context.Context, fn func(tx Tx) error) error
}

// Tx is an open transaction. Whoever locks more than one row of a kind does it in id order.
type Tx interface {
	PlayerTx
	EdgeTx
	FeedTx
	LikeTx
	CommentTx
	MessageTx
	ReportTx
	// Append writes an event of the outbox, claimed by this process for its inline near stage.
	Append(ctx context.Context, event social.Event) error
	// Remember notes the result of an operation under an idempotency key. When the key is taken it
	// waits for the one who took it and returns what was noted then, with found true.
	Remember(ctx context.Context, r Remembered) (noted Remembered, found bool, err error)
}

// Remembered is the result of an operation under an idempotency key.
type Remembered = social.Remembered

// PlayerTx writes players.
type PlayerTx interface {
	// UpdateProfile changes what is given and lifts both of the player's versions at least to
	// version; false when there is no such player.
	UpdateProfile(ctx context.Context, id social.PlayerID, change social.ProfileChange, version int64) (bool, error)
	// AddCounts adds to the player's counters and lifts their version; false when there is no such
	// player.
	AddCounts(ctx context.Context, id social.PlayerID, delta social.PlayerCounts, version int64) (bool, error)
	// AddFollowing is AddCounts for a player who begins to follow: false also when the player
	// follows limit players already.
	AddFollowing(ctx context.Context, id social.PlayerID, delta social.PlayerCounts, limit int, version int64) (bool, error)
}

// EdgeTx writes the edges between two players.
type EdgeTx interface {
	// LockPair makes sure of both mirrored rows, locks them in id order and returns the player's.
	LockPair(ctx context.Context, player, peer social.PlayerID) (social.Edge, error)
	// SavePair writes both mirrored rows.
	SavePair(ctx context.Context, edge social.Edge) error
}

// FeedTx writes feeds.
type FeedTx interface {
	// InsertFeed writes head, counters and, unless the head is whole, the body. An id that is
	// taken is an error for which the caller draws another.
	InsertFeed(ctx context.Context, feed social.Feed, content string) error
	// LockFeed reads a feed's head and locks its row; nil when there is none.
	LockFeed(ctx context.Context, id social.FeedID) (*social.Feed, error)
	// SaveText writes a locked feed's excerpt, wholeness, time of edit, version and body.
	SaveText(ctx context.Context, feed social.Feed, content string) error
	// SetHidden hides a locked feed and its counters, or shows them again, and lifts the versions of both at
	// least to version.
	SetHidden(ctx context.Context, id social.FeedID, hidden bool, version int64) error
	// MarkDeleted makes a locked feed and its counters tombstones and removes its body.
	MarkDeleted(ctx context.Context, id social.FeedID, version int64) error
}

// LikeTx writes likes.
type LikeTx interface {
	// PutLike makes the player like the feed, with order as the like's place; false when the player
	// likes it already.
	PutLike(ctx context.Context, key social.LikeKey, order social.LikeID) (bool, error)
	// RemoveLike makes the like a tombstone; false when the player does not like the feed.
	RemoveLike(ctx context.Context, key social.LikeKey) (bool, error)
	// AddLikes adds to the feed's like count, lifts the version of its counters at least to version
	// and returns them as they are then; nil when the feed is unknown or deleted.
	AddLikes(ctx context.Context, id social.FeedID, delta int, version int64) (*social.FeedCounters, error)
}

// CommentTx writes comments.
type CommentTx interface {
	// InsertComment writes a comment. An id that is taken is an error for which the caller draws another.
	InsertComment(ctx context.Context, comment social.Comment) error
	// LockComment reads a comment and locks its row; nil when there is none.
	LockComment(ctx context.Context, id social.CommentID) (*social.Comment, error)
	// SaveComment writes what may change of a locked comment.
	SaveComment(ctx context.Context, comment social.Comment) error
	// AddReply counts a new answer in the thread of a head and lifts the head's version at least to
	// version; false when the head stands in no list or, with whole set, is deleted.
	AddReply(ctx context.Context, head social.CommentID, whole bool, version int64) (bool, error)
	// AddComments adds to a feed's counts of comments and of heads and lifts the version of its counters
	// at least to version; false when the feed is unknown or deleted.
	AddComments(ctx context.Context, feed social.FeedID, comments, heads int, version int64) (bool, error)
}

// MessageTx writes messages and conversations. Whoever changes a message has locked its conversation.
type MessageTx interface {
	// LockConversation makes sure of both mirrored rows of a pair of players, locks them in id order and
	// returns the player's and the peer's.
	LockConversation(ctx context.Context, key social.ConversationKey) (mine, theirs social.Conversation, err error)
	// SaveConversation writes both rows.
	SaveConversation(ctx context.Context, mine, theirs social.Conversation) error
	// InsertMessage writes a message. An id that is taken is an error for which the caller draws another.
	InsertMessage(ctx context.Context, message social.Message) error
	// MessageHead reads a message without its text; nil when there is none.
	MessageHead(ctx context.Context, id social.MessageID) (*social.Message, error)
	// OldestMessages reads at most limit messages of a conversation with ids below before, the oldest
	// first, without their texts.
	OldestMessages(ctx context.Context, key social.ConversationKey, before social.MessageID, limit int) ([]*social.Message, error)
	// NewestMessage is the newest message that the player sees; 0 when there is none.
	NewestMessage(ctx context.Context, key social.ConversationKey) (social.MessageID, error)
	// HideMessage makes a message invisible to its recipient.
	HideMessage(ctx context.Context, id social.MessageID, how social.Hiding) error
	// DeleteMessages removes messages.
	DeleteMessages(ctx context.Context, ids []social.MessageID) error
	// InsertReadMark notes that messages were read.
	InsertReadMark(ctx context.Context, mark social.ReadMark) error
}

// ReportTx writes reports.
type ReportTx interface {
	// InsertReport writes a report, unless its reporter has an open one of the same thing.
	InsertReport(ctx context.Context, report social.Report) error
	// CloseReport closes a report, if it is open.
	CloseReport(ctx context.Context, id social.ReportID, by social.PlayerID) error
}

// ReportStore reads reports.
type ReportStore interface {
	// Reports lists reports, newest first.
	Reports(ctx context.Context, below int64, limit int) ([]*social.Report, error)
	// ReportsByIDs reads reports; unknown ones are absent.
	ReportsByIDs(ctx context.Context, ids []social.ReportID) (map[social.ReportID]*social.Report, error)
}

// PlayerStore reads players.
type PlayerStore interface {
	// PlayerByNameKey finds a player by folded name; 0 when there is none.
	PlayerByNameKey(ctx context.Context, key string) (social.PlayerID, error)
}

// RelationStore reads edges.
type RelationStore interface {
	// Relations tells how player stands to each of peers; peers without a row are absent.
	Relations(ctx context.Context, player social.PlayerID, peers []social.PlayerID) (map[social.PlayerID]social.Relation, error)
	// PlayerLists reads a piece of several lists, in the order asked: at most limit entries with an
	// edge below the key of each, newest edge first. Of ListFollowing, ListFans and ListFriends those are
	// left out whom the viewer may not see; nobody is with viewer 0.
	PlayerLists(ctx context.Context, list social.RelationList, viewer social.PlayerID, asks []ListAsk[social.PlayerID]) ([][]social.PlayerEdge, error)
	// CountPlayers counts a player's list of players; it is meant for lists without a counter.
	CountPlayers(ctx context.Context, list social.RelationList, player social.PlayerID) (int, error)
}

// ListAsk asks for at most Limit entries of the list of Of, from below the key Below.
type ListAsk[K comparable] = social.ListAsk[K]

// FeedStore reads lists of feeds.
type FeedStore interface {
	// HomeFeeds lists the feeds on a player's home page, newest first: the player's own and those
	// of followed players that the player may see and has not muted, without deleted ones.
	HomeFeeds(ctx context.Context, viewer social.Viewer, below int64, limit int) ([]social.FeedID, error)
	// AuthorFeeds reads a piece of several profile lists, newest first, in the order asked, without
	// deleted feeds.
	AuthorFeeds(ctx context.Context, asks []AuthorFeedsAsk) ([][]social.FeedID, error)
}

// AuthorFeedsAsk asks for feeds of an author that have one of the visibilities.
type AuthorFeedsAsk = social.AuthorFeedsAsk

// CommentStore reads lists of comments.
type CommentStore interface {
	// CommentLists reads a piece of several lists, oldest first, in the order asked, without those of authors
	// whom the viewer may not see; with viewer 0 all.
	CommentLists(ctx context.Context, viewer social.PlayerID, asks []social.ThreadAsk) ([][]social.CommentID, error)
}

// MessageStore reads messages and conversations; of both only what is from a given message on.
type MessageStore interface {
	// ConversationMessages reads a piece of several conversations, newest first, in the order asked.
	ConversationMessages(ctx context.Context, asks []social.ConversationAsk) ([][]social.MessageID, error)
	// ReceivedMessages lists messages that a player received and has not deleted, newest first; only with
	// all set also those of players whom he may not see.
	ReceivedMessages(ctx context.Context, player social.PlayerID, below, from social.MessageID, limit int, all bool) ([]social.MessageID, error)
	// ReadTimes tells when messages were read, in the order asked; the zero time for those that were not.
	ReadTimes(ctx context.Context, messages []*social.Message) ([]time.Time, error)
	// Conversations lists a player's conversations, the one with the newest message first.
	Conversations(ctx context.Context, player social.PlayerID, below, from social.MessageID, limit int) ([]social.Conversation, error)
	// ConversationsWith reads a player's conversations with peers; others are absent.
	ConversationsWith(ctx context.Context, player social.PlayerID, peers []social.PlayerID, from social.MessageID) (map[social.PlayerID]*social.Conversation, error)
	// UnreadMessages counts the messages that a player has not read, over all conversations.
	UnreadMessages(ctx context.Context, player social.PlayerID, from social.MessageID) (int, error)
	// OldConversations names the conversations of the limit oldest messages with ids below before.
	OldConversations(ctx context.Context, before social.MessageID, limit int) ([]social.ConversationKey, error)
}

// LikeStore reads likes.
type LikeStore interface {
	// Liked tells which of the feeds the player likes.
	Liked(ctx context.Context, player social.PlayerID, feeds []social.FeedID) (map[social.FeedID]bool, error)
	// LikedFeeds lists a player's likes of feeds that the player may see, newest like first.
	LikedFeeds(ctx context.Context, viewer social.Viewer, below int64, limit int) ([]social.Like, error)
	// LikesByKeys reads likes that stand; others are absent.
	LikesByKeys(ctx context.Context, keys []social.LikeKey) (map[social.LikeKey]social.LikeID, error)
	// Likers reads a piece of the likers of several feeds, newest first, in the order asked, without those whom
	// the viewer may not see; with viewer 0 all.
	Likers(ctx context.Context, part LikerPart, viewer social.PlayerID, asks []ListAsk[social.FeedID]) ([][]social.Like, error)
	// FriendLikeCounts tells how many of the viewer's friends like each of the feeds.
	FriendLikeCounts(ctx context.Context, viewer social.PlayerID, feeds []social.FeedID) (map[social.FeedID]int, error)
}

// LikerPart chooses among the likers of a feed.
type LikerPart = social.LikerPart

// The parts of a like list.
const (
	AllLikers    = social.AllLikers
	FriendLikers = social.FriendLikers
	OtherLikers  = social.OtherLikers
)

// Observer counts what the services do. Its methods don't wait.
type Observer interface {
	// HomeRefilled is told when a home page takes another trip to its timeline, since entries were dropped.
	HomeRefilled()
	// HomeFellBack is told when a home page goes on in the relational store: below the timeline's floor,
	// or, lacking, because Redis has no timeline to read.
	HomeFellBack(lacking bool)
	// HomeAskedPulled is told when the profile lists of pulled authors are read for a home page, and how many
	// of them were lacking, so that the relational store stood in for them.
	HomeAskedPulled(lacking int)
	// HomePulled is told when feeds of pulled authors are merged into a timeline for a home page.
	HomePulled()
	// WindowBuilt is told when a window of a kind was built.
	WindowBuilt(kind string)
}

// Near runs the near stages of events right after their transaction has committed. It never fails
// the caller: what it can't do is left to the workers of the outbox.
type Near interface {
	RunInline(ctx context.Context, events []social.Event)
}

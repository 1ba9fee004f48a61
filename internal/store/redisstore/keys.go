package redisstore

import (
	"strconv"
	"strings"
	"time"

	"circle/internal/social"
)

// Role is a part of the data that can have a deployment of its own.
type Role string

// The roles.
const (
	Profile  Role = "profile"  // simple info of players
	Detail   Role = "detail"   // detail info of players; no command reads more than one, so it shards freely
	Relation Role = "relation" // who follows whom
	Feed     Role = "feed"     // feeds and lists of feeds
	Activity Role = "activity" // rankings, boards, activity
)

// Roles lists all roles.
func Roles() []Role { return []Role{Profile, Detail, Relation, Feed, Activity} }

// logEpoch names the epoch of the live logs, which are in Redis for their own sake and not for that of
// rows: it rises also where their role's values can be made good.
const logEpoch Role = "log"

const (
	day = 24 * time.Hour

	// bucketSize is how many players share a hash of simple info: as many as
	// hash-max-listpack-entries may hold in the compact encoding.
	bucketSize = 128
	// infoField is the field of a player's detail hash that holds the packed detail.
	infoField = "info"
)

// family is a kind of keys. A key is the family's name, a colon, and in braces the number that
// Redis Cluster takes the slot from: keys of one number share a slot.
type family struct {
	name string
	role Role
	ttl  time.Duration // renewed at each write; of windows by reads
	// place tells which key and field of a hash hold an id; a family without place has a string
	// for each id.
	place func(id int64) (number int64, field string)
}

// All keys there are. No key is spelled anywhere else.
//
//	key                 type    TTL   role      slot by    holds
//	simple:{bucket}     hash    30 d  profile   id / 128   field id % 128: name, level, avatar of a player
//	detail:{player}     hash    7 d   detail    player id  field info: bio, guild, counters of a player
//	feed:{feed}         string  7 d   feed      feed id    head of a feed
//	body:{feed}         string  7 d   feed      feed id    whole text of a feed that its head cuts off
//	count:{feed}        string  7 d   feed      feed id    counters of a feed, its author and visibility
//	comment:{comment}   string  7 d   feed      comment id a comment or answer
//	timeline:{player}   window  1 d   feed      player id  feeds on a player's home page
//	pulls:{player}      window  1 d   feed      player id  pulled authors whom a player follows, by position
//	profile:{player}    window  7 d   feed      player id  a player's own feeds
//	liked:{player}      window  7 d   feed      player id  feeds that a player likes, by feed id
//	likes:{feed}        window  7 d   feed      feed id    players who like a feed, by like id
//	comments:{feed}     window  7 d   feed      feed id    comments on a feed, oldest first
//	replies:{comment}   window  7 d   feed      comment id answers in the thread of a comment, oldest first
//	following:{player}  window  7 d   relation  player id  players whom a player follows, by edge id
//	fans:{player}       window  7 d   relation  player id  players who follow a player, by edge id
//	friends:{player}    window  7 d   relation  player id  players who follow each other, by edge id
//	blocked:{player}    window  7 d   relation  player id  players whom a player blocks, by edge id
//	blockers:{player}   window  7 d   relation  player id  players who block a player, by edge id
//	muted:{player}      window  7 d   relation  player id  players whom a player mutes, by edge id
//	…-part:{n}          window  7 d   relation  n          the same of long lists; n = player id · 32 + peer id % 32
//	msg:{message}       string  30 d  feed      msg id     a private message
//	inbox:{player}      window  7 d   feed      player id  messages that a player received
//	log:{player}        zset    10 m  feed      player id  live events of a home page that is listened to, log.go;
//	                                                       also the name of the channel of notices of them
//	listening:{n}       zset    11 m  feed      id % 64    players whose home page is listened to, until when, listening.go
//	inboxlog:{player}   zset    10 m  feed      player id  the same, of a player's messages
//	feedlog:{feed}      zset    10 m  feed      feed id    the same, of a feed
//	fence:{n}           hash    none  all       fence.go   field role: when the role's fence was raised last
//
// A window is a sorted set; window.go says what is in it. Its TTL is renewed by reads, and is 10 s
// while it is being built.
var (
	simpleKeys = family{name: "simple", role: Profile, ttl: 30 * day, place: func(id int64) (int64, string) {
		return id / bucketSize, strconv.FormatInt(id%bucketSize, 10)
	}}
	detailKeys = family{name: "detail", role: Detail, ttl: 7 * day, place: func(id int64) (int64, string) {
		return id, infoField
	}}
	feedKeys  = family{name: "feed", role: Feed, ttl: 7 * day}
	bodyKeys  = family{name: "body", role: Feed, ttl: 7 * day}
	countKeys = family{name: "count", role: Feed, ttl: 7 * day}

	commentKeys  = family{name: "comment", role: Feed, ttl: 7 * day}
	messageKeys  = family{name: "msg", role: Feed, ttl: 30 * day}
	inboxKeys    = family{name: "inbox", role: Feed, ttl: 7 * day}
	timelineKeys = family{name: "timeline", role: Feed, ttl: day}
	pullsKeys    = family{name: "pulls", role: Feed, ttl: day}
	profileKeys  = family{name: "profile", role: Feed, ttl: 7 * day}
	likedKeys    = family{name: "liked", role: Feed, ttl: 7 * day}
	likesKeys    = family{name: "likes", role: Feed, ttl: 7 * day}
	commentsKeys = family{name: "comments", role: Feed, ttl: 7 * day}
	repliesKeys  = family{name: "replies", role: Feed, ttl: 7 * day}

	// Lists of players; long ones have keys for their parts.
	relationKeys = map[social.RelationList]splitFamily{
		social.ListFollowing: {
			one:   family{name: "following", role: Relation, ttl: 7 * day},
			parts: family{name: "following-part", role: Relation, ttl: 7 * day},
		},
		social.ListFans: {
			one:   family{name: "fans", role: Relation, ttl: 7 * day},
			parts: family{name: "fans-part", role: Relation, ttl: 7 * day},
		},
		social.ListFriends: {
			one:   family{name: "friends", role: Relation, ttl: 7 * day},
			parts: family{name: "friends-part", role: Relation, ttl: 7 * day},
		},
		social.ListBlocked: {
			one:   family{name: "blocked", role: Relation, ttl: 7 * day},
			parts: family{name: "blocked-part", role: Relation, ttl: 7 * day},
		},
		social.ListBlockers: {
			one:   family{name: "blockers", role: Relation, ttl: 7 * day},
			parts: family{name: "blockers-part", role: Relation, ttl: 7 * day},
		},
		social.ListMuted: {
			one:   family{name: "muted", role: Relation, ttl: 7 * day},
			parts: family{name: "muted-part", role: Relation, ttl: 7 * day},
		},
	}

	homeLogKeys  = family{name: "log", role: Feed, ttl: 10 * time.Minute}
	inboxLogKeys = family{name: "inboxlog", role: Feed, ttl: 10 * time.Minute}
	feedLogKeys  = family{name: "feedlog", role: Feed, ttl: 10 * time.Minute}
	logKinds     = map[social.LogKind]family{social.LogHome: homeLogKeys, social.LogInbox: inboxLogKeys, social.LogFeed: feedLogKeys}

	// An entry outlives the log that it was made for by a minute.
	listeningKeys = family{name: "listening", role: Feed, ttl: homeLogKeys.ttl + time.Minute}

	// fenceKeys are of all roles, each of which has a field of its own.
	fenceKeys = family{name: "fence"}
)

// splitFamily are the keys of lists that are spread over several when they are long.
type splitFamily struct{ one, parts family }

// key spells the key of a number.
func (f family) key(number int64) string {
	b := make([]byte, 0, len(f.name)+23)
	b = append(b, f.name...)
	b = append(b, ":{"...)
	b = strconv.AppendInt(b, number, 10)
	return string(append(b, '}'))
}

// number reads the number of a key of the family.
func (f family) number(key string) (int64, bool) {
	rest, named := strings.CutPrefix(key, f.name+":{")
	digits, closed := strings.CutSuffix(rest, "}")
	number, err := strconv.ParseInt(digits, 10, 64)
	return number, named && closed && err == nil
}

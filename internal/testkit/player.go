package testkit

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Password is that of every player whom SignUp makes.
const Password = "correct horse battery"

// Player is somebody who is logged in.
type Player struct {
	ID      string
	Name    string
	Token   string
	Refresh string
	App     *App
}

// SignUp makes a player.
func (a *App) SignUp(t testing.TB, name string) Player {
	t.Helper()
	type session struct {
		AccessToken, RefreshToken string
		Player                    struct{ ID, Name string }
	}
	r := Read[struct {
		SignUp struct {
			Session    *session
			UserErrors []UserError
		}
	}](t, a, "", `mutation($name:String!,$password:String!){signUp(input:{name:$name,password:$password}){
		session{accessToken refreshToken player{id name}} userErrors{code message field}}}`, Vars{"name": name, "password": Password})
	require.Empty(t, r.SignUp.UserErrors)
	s := r.SignUp.Session
	return Player{ID: s.Player.ID, Name: s.Player.Name, Token: s.AccessToken, Refresh: s.RefreshToken, App: a}
}

// SignUpAll makes players with a common prefix of their names.
func (a *App) SignUpAll(t testing.TB, prefix string, n int) []Player {
	t.Helper()
	players := make([]Player, n)
	for i := range players {
		players[i] = a.SignUp(t, fmt.Sprintf("%s%d", prefix, i))
	}
	return players
}

// On is the same player as a client of another server on the same stores.
func (p Player) On(a *App) Player {
	p.App = a
	return p
}

// Do runs an operation.
func (p Player) Do(t testing.TB, query string, vars Vars) Answer {
	t.Helper()
	return p.App.Do(t, p.Token, query, vars)
}

// Feed is a feed as payloads show it.
type Feed struct {
	ID        string
	LikeCount int
	HasLiked  bool
}

// Comment is a comment as payloads show it.
type Comment struct {
	ID         string
	Content    string
	IsDeleted  bool
	ReplyCount int
	Root       *ID
	ReplyTo    *ID
}

// Conversation is a conversation as payloads show it.
type Conversation struct {
	ID          string
	UnreadCount int
}

// Payload is what mutations answer.
type Payload struct {
	Player           *struct{ ID string }
	Feed             *Feed
	DeletedFeedID    string
	Comment          *Comment
	DeletedCommentID string
	Message          *ID
	DeletedMessageID string
	Conversation     *Conversation
	UserErrors       []UserError
}

// Code is the code of the payload's only user error; empty when there is none.
func (p Payload) Code() string {
	if len(p.UserErrors) == 0 {
		return ""
	}
	return p.UserErrors[0].Code
}

// Mutate runs a mutation of one input whose payload is a Payload. It is safe for use by any
// goroutine; top-level errors are returned.
func (p Player) Mutate(name, inputType, fields string, input Vars) (Payload, error) {
	body, err := json.Marshal(map[string]any{
		"query":     fmt.Sprintf("mutation($i:%s!){r:%s(input:$i){%s userErrors{code message field}}}", inputType, name, fields),
		"variables": Vars{"i": input},
	})
	if err != nil {
		return Payload{}, err
	}
	answer, err := p.App.post(p.Token, body)
	if err != nil {
		return Payload{}, err
	}
	if len(answer.Errors) > 0 {
		return Payload{}, fmt.Errorf("%s: %s", name, answer.Raw)
	}
	var data struct{ R Payload }
	return data.R, json.Unmarshal(answer.Data, &data)
}

const feedFields = "feed{id likeCount hasLiked}"

// Follow follows a player.
func (p Player) Follow(other Player) (Payload, error) {
	return p.Mutate("followPlayer", "PlayerInput", "player{id}", Vars{"playerId": other.ID})
}

// Unfollow stops following a player.
func (p Player) Unfollow(other Player) (Payload, error) {
	return p.Mutate("unfollowPlayer", "PlayerInput", "player{id}", Vars{"playerId": other.ID})
}

// Like likes a feed.
func (p Player) Like(feed string) (Payload, error) {
	return p.Mutate("likeFeed", "FeedInput", feedFields, Vars{"feedId": feed})
}

// Unlike takes a like back.
func (p Player) Unlike(feed string) (Payload, error) {
	return p.Mutate("unlikeFeed", "FeedInput", feedFields, Vars{"feedId": feed})
}

// Create posts a feed.
func (p Player) Create(input Vars) (Payload, error) {
	return p.Mutate("createFeed", "CreateFeedInput", feedFields, input)
}

// Edit changes a feed's text.
func (p Player) Edit(feed, content string) (Payload, error) {
	return p.Mutate("editFeed", "EditFeedInput", feedFields, Vars{"feedId": feed, "content": content})
}

// Delete deletes a feed.
func (p Player) Delete(feed string) (Payload, error) {
	return p.Mutate("deleteFeed", "FeedInput", "deletedFeedId", Vars{"feedId": feed})
}

const commentFields = "comment{id content isDeleted replyCount root{id} replyTo{id}}"

// Comment comments on a feed, or answers a comment on it unless replyTo is empty.
func (p Player) Comment(feed, replyTo, content string) (Payload, error) {
	input := Vars{"feedId": feed, "content": content}
	if replyTo != "" {
		input["replyToId"] = replyTo
	}
	return p.Mutate("createComment", "CreateCommentInput", commentFields, input)
}

// Uncomment deletes a comment.
func (p Player) Uncomment(comment string) (Payload, error) {
	return p.Mutate("deleteComment", "CommentInput", "deletedCommentId "+commentFields, Vars{"commentId": comment})
}

// Comments reads the ids of all comments on a feed.
func (p Player) Comments(t testing.TB, feed string, first int) []string {
	t.Helper()
	return IDs(t, p.App, p.Token, "query($id:ID!,$first:Int!,$after:Cursor){node(id:$id){... on Feed{c:comments(first:$first,after:$after){"+pageFields+"}}}}",
		first, Vars{"id": feed})
}

// Replies reads the ids of all answers below a comment.
func (p Player) Replies(t testing.TB, comment string, first int) []string {
	t.Helper()
	return IDs(t, p.App, p.Token, "query($id:ID!,$first:Int!,$after:Cursor){node(id:$id){... on Comment{c:replies(first:$first,after:$after){"+pageFields+"}}}}",
		first, Vars{"id": comment})
}

// Send sends a message.
func (p Player) Send(to Player, content string) (Payload, error) {
	return p.Mutate("sendMessage", "SendMessageInput", "message{id}", Vars{"recipientId": to.ID, "content": content})
}

// MustSend sends a message that is accepted and returns its id.
func (p Player) MustSend(t testing.TB, to Player, content string) string {
	t.Helper()
	return Must(t)(p.Send(to, content)).Message.ID
}

// DeleteMessage deletes a message.
func (p Player) DeleteMessage(id string) (Payload, error) {
	return p.Mutate("deleteMessage", "MessageInput", "deletedMessageId", Vars{"messageId": id})
}

// MarkRead marks a conversation as read.
func (p Player) MarkRead(conversation string) (Payload, error) {
	return p.Mutate("markConversationRead", "MarkConversationReadInput", "conversation{id unreadCount}", Vars{"conversationId": conversation})
}

// MustPost posts a feed that is accepted and returns its id.
func (p Player) MustPost(t testing.TB, content, visibility string) string {
	t.Helper()
	r, err := p.Create(Vars{"content": content, "visibility": visibility})
	require.NoError(t, err)
	require.Empty(t, r.UserErrors)
	return r.Feed.ID
}

// Must checks that a mutation had no error at all.
func Must(t testing.TB) func(Payload, error) Payload {
	return func(p Payload, err error) Payload {
		t.Helper()
		require.NoError(t, err)
		require.Empty(t, p.UserErrors)
		return p
	}
}

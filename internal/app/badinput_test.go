package app_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/testkit"
)

func TestQueriesThatCanNotBeMeantAreBadInput(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	a, b := app.SignUp(t, "ann"), app.SignUp(t, "bob")
	feed := a.MustPost(t, "one", "PUBLIC")
	other := a.MustPost(t, "two", "PUBLIC")
	testkit.Must(t)(b.Like(feed))
	testkit.Must(t)(b.Like(other))
	testkit.Must(t)(b.Follow(a))
	a.MustSend(t, b, "hello")

	type page struct{ PageInfo struct{ EndCursor string } }
	end := func(p testkit.Player, field string) string {
		r := testkit.Read[struct{ C page }](t, app, p.Token, "{c:"+field+"{pageInfo{endCursor}}}", nil)
		require.NotEmpty(t, r.C.PageInfo.EndCursor)
		return r.C.PageInfo.EndCursor
	}
	below := func(p testkit.Player, id, on, field string) string {
		r := testkit.Read[struct{ Node struct{ C page } }](t, app, p.Token,
			fmt.Sprintf(`{node(id:%q){... on %s{c:%s{pageInfo{endCursor}}}}}`, id, on, field), nil)
		require.NotEmpty(t, r.Node.C.PageInfo.EndCursor)
		return r.Node.C.PageInfo.EndCursor
	}
	home := end(a, "homeFeed(first:1)")
	inbox := testkit.Read[struct{ Viewer struct{ C page } }](t, app, b.Token, "{viewer{c:inbox{pageInfo{endCursor}}}}", nil).Viewer.C.PageInfo.EndCursor
	likes := below(a, feed, "Feed", "likes(order:NEWEST)")
	friendsFirst := below(a, feed, "Feed", "likes")
	fans := below(b, a.ID, "Player", "fans")
	head := testkit.Must(t)(a.Comment(feed, "", "head")).Comment.ID
	testkit.Must(t)(b.Comment(feed, head, "answer"))
	comments, replies := below(a, feed, "Feed", "comments"), below(a, head, "Comment", "replies")
	ids := func(n int, id string) string { return strings.Repeat(fmt.Sprintf("%q,", id), n) }
	node := func(id, on, field string) string {
		return fmt.Sprintf(`{node(id:%q){... on %s{%s{pageInfo{endCursor}}}}}`, id, on, field)
	}

	for _, c := range []struct {
		name, query string
		viewer      testkit.Player
	}{
		{"an empty id", `{node(id:""){id}}`, a},
		{"an id without a kind", `{node(id:"x"){id}}`, a},
		{"a kind without an id", `{node(id:"feed_"){id}}`, a},
		{"an emoji for an id", `{node(id:"🙂"){id}}`, a},
		{"an id with foreign letters", `{node(id:"feed_ILOUilouILO"){id}}`, a},
		{"an id in capitals", fmt.Sprintf(`{node(id:%q){id}}`, strings.ToUpper(feed)), a},
		{"an id that is too short", fmt.Sprintf(`{node(id:%q){id}}`, feed[:len(feed)-1]), a},
		{"an id that is too long", fmt.Sprintf(`{node(id:%q){id}}`, feed+"0"), a},
		{"a number beyond all ids", `{node(id:"feed_zzzzzzzzzzz"){id}}`, a},
		{"an id of a kind that there is not", strings.Replace(fmt.Sprintf(`{node(id:%q){id}}`, feed), "feed_", "team_", 1), a},
		{"a very long id", fmt.Sprintf(`{node(id:%q){id}}`, strings.Repeat("A", 5000)), a},
		{"a malformed id among good ones", fmt.Sprintf(`{nodes(ids:[%q,"x"]){id}}`, feed), a},
		{"101 ids", fmt.Sprintf(`{nodes(ids:[%s]){id}}`, ids(101, feed)), a},
		{"a player's id for a feed", fmt.Sprintf(`{feedCounters(feedIds:[%q]){likeCount}}`, a.ID), a},
		{"501 feeds", fmt.Sprintf(`{feedCounters(feedIds:[%s]){likeCount}}`, ids(501, feed)), a},
		{"first 0", `{homeFeed(first:0){nodes{id}}}`, a},
		{"first -1", `{homeFeed(first:-1){nodes{id}}}`, a},
		{"first 101", `{homeFeed(first:101){nodes{id}}}`, a},
		{"first 2^31-1", `{homeFeed(first:2147483647){nodes{id}}}`, a},
		{"first beyond 32 bits", `{homeFeed(first:99999999999){nodes{id}}}`, a},
		{"first of a nested list", node(feed, "Feed", "likes(first:0)"), a},
		{"a summary of nothing", fmt.Sprintf(`{node(id:%q){... on Feed{summary(length:0)}}}`, feed), a},
		{"a summary of 1,001", fmt.Sprintf(`{node(id:%q){... on Feed{summary(length:1001)}}}`, feed), a},
		{"an empty cursor", `{homeFeed(after:""){nodes{id}}}`, a},
		{"a cursor that is none", `{homeFeed(after:"abc"){nodes{id}}}`, a},
		{"half a cursor", fmt.Sprintf(`{homeFeed(after:%q){nodes{id}}}`, home[:len(home)/2]), a},
		{"a changed cursor", fmt.Sprintf(`{homeFeed(after:%q){nodes{id}}}`, flip(home)), a},
		{"another player's cursor", fmt.Sprintf(`{homeFeed(after:%q){nodes{id}}}`, home), b},
		{"a cursor of likes on the home page", fmt.Sprintf(`{homeFeed(after:%q){nodes{id}}}`, likes), a},
		{"a cursor of the home page on likes", node(feed, "Feed", fmt.Sprintf("likes(after:%q)", home)), a},
		{"a cursor of another feed's likes", node(other, "Feed", fmt.Sprintf("likes(order:NEWEST,after:%q)", likes)), a},
		{"a cursor of another order", node(feed, "Feed", fmt.Sprintf("likes(after:%q)", likes)), a},
		{"a cursor of another viewer's friends first", node(feed, "Feed", fmt.Sprintf("likes(after:%q)", friendsFirst)), b},
		{"a cursor of fans on following", node(a.ID, "Player", fmt.Sprintf("following(after:%q)", fans)), b},
		{"a cursor of another player's fans", node(b.ID, "Player", fmt.Sprintf("fans(after:%q)", fans)), b},
		{"a cursor of comments on likes", node(feed, "Feed", fmt.Sprintf("likes(order:NEWEST,after:%q)", comments)), a},
		{"a cursor of another feed's comments", node(other, "Feed", fmt.Sprintf("comments(after:%q)", comments)), a},
		{"a cursor of answers on comments", node(feed, "Feed", fmt.Sprintf("comments(after:%q)", replies)), a},
		{"a cursor of comments on answers", node(head, "Comment", fmt.Sprintf("replies(after:%q)", comments)), a},
		{"a cursor of fans on blocked players", fmt.Sprintf(`{viewer{blockedPlayers(after:%q){nodes{id}}}}`, fans), a},
		{"first of muted players", `{viewer{mutedPlayers(first:0){nodes{id}}}}`, a},
		{"a cursor of likes on liked feeds", fmt.Sprintf(`{viewer{likedFeeds(after:%q){nodes{id}}}}`, likes), a},
		{"first of comments", node(feed, "Feed", "comments(first:101)"), a},
		{"first of answers to none", node(head, "Comment", "replies(first:0)"), a},
		{"half an id of a comment", fmt.Sprintf(`{node(id:%q){id}}`, head[:len(head)-3]), a},
		{"first 0 of the inbox", `{viewer{inbox(first:0){nodes{id}}}}`, a},
		{"a cursor of the home page on conversations", fmt.Sprintf(`{viewer{conversations(after:%q){nodes{id}}}}`, home), a},
		{"another player's cursor of the inbox", fmt.Sprintf(`{viewer{inbox(after:%q){nodes{id}}}}`, inbox), a},
		{"a cursor of the inbox on conversations", fmt.Sprintf(`{viewer{conversations(after:%q){nodes{id}}}}`, inbox), b},
		{"a field that there is not", `{wall{id}}`, a},
		{"a document that breaks off", `{viewer{role}`, a},
		{"a variable of another type", `query($first:String){homeFeed(first:$first){nodes{id}}}`, a},
		{"an order that there is not", node(feed, "Feed", "likes(order:OLDEST)"), a},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer := c.viewer.Do(t, c.query, nil)
			assert.Equal(t, "BAD_USER_INPUT", answer.Code(t), answer.Raw)
			assert.NotEmpty(t, answer.Errors[0].Extensions.RequestID)
		})
	}
}

// flip changes one letter amid a cursor.
func flip(cursor string) string {
	b := []byte(cursor)
	if i := len(b) / 2; b[i] == 'A' {
		b[i] = 'B'
	} else {
		b[i] = 'A'
	}
	return string(b)
}

func TestInputsThatCanNotBeMeantAreUserErrorsAndDoNothing(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	a, b := app.SignUp(t, "ann"), app.SignUp(t, "bob")
	feed := a.MustPost(t, "mine", "PUBLIC")
	private := a.MustPost(t, "secret", "PRIVATE")
	gone := b.MustPost(t, "gone", "PUBLIC")
	testkit.Must(t)(b.Delete(gone))
	unknown := strings.Replace(a.ID, "player_", "feed_", 1)
	on := func(feed string, more testkit.Vars) testkit.Vars {
		input := testkit.Vars{"feedId": feed, "content": "x"}
		maps.Copy(input, more)
		return input
	}
	comment := testkit.Must(t)(a.Comment(feed, "", "mine")).Comment.ID
	secret := testkit.Must(t)(a.Comment(private, "", "secret")).Comment.ID
	elsewhere := testkit.Must(t)(a.Comment(a.MustPost(t, "another", "PUBLIC"), "", "elsewhere")).Comment.ID
	deleted := testkit.Must(t)(b.Comment(feed, "", "deleted")).Comment.ID
	testkit.Must(t)(b.Uncomment(deleted))
	emptied := testkit.Must(t)(b.Comment(feed, "", "emptied")).Comment.ID
	testkit.Must(t)(b.Comment(feed, emptied, "answer"))
	testkit.Must(t)(b.Uncomment(emptied))
	c := app.SignUp(t, "cat")
	c.MustSend(t, a, "hello")
	talk := open(t, a).with(t, c).ID

	long := func(n int) string { return strings.Repeat("字", n) }
	for _, c := range []struct {
		name, mutation, inputType, fields string
		input                             testkit.Vars
		code                              string
		field                             []string
	}{
		{"an empty text", "createFeed", "CreateFeedInput", "feed{id}", testkit.Vars{"content": ""}, "REQUIRED", []string{"content"}},
		{"a text of blanks", "createFeed", "CreateFeedInput", "feed{id}", testkit.Vars{"content": " \n\t　"}, "REQUIRED", []string{"content"}},
		{"a text that is too long", "createFeed", "CreateFeedInput", "feed{id}", testkit.Vars{"content": long(100_001)}, "TOO_LONG", []string{"content"}},
		{"an empty key", "createFeed", "CreateFeedInput", "feed{id}", testkit.Vars{"content": "x", "idempotencyKey": ""}, "REQUIRED", []string{"idempotencyKey"}},
		{"a key that is too long", "createFeed", "CreateFeedInput", "feed{id}", testkit.Vars{"content": "x", "idempotencyKey": long(256)}, "TOO_LONG", []string{"idempotencyKey"}},
		{"an edit to nothing", "editFeed", "EditFeedInput", "feed{id}", testkit.Vars{"feedId": feed, "content": ""}, "REQUIRED", []string{"content"}},
		{"an edit of what is malformed", "editFeed", "EditFeedInput", "feed{id}", testkit.Vars{"feedId": "x", "content": "x"}, "INVALID", []string{"feedId"}},
		{"an edit of another's feed", "editFeed", "EditFeedInput", "feed{id}", testkit.Vars{"feedId": feed, "content": "x"}, "NOT_FOUND", []string{"feedId"}},
		{"a deletion of another's feed", "deleteFeed", "FeedInput", "deletedFeedId", testkit.Vars{"feedId": feed}, "NOT_FOUND", []string{"feedId"}},
		{"a deletion of what is gone", "deleteFeed", "FeedInput", "deletedFeedId", testkit.Vars{"feedId": gone}, "NOT_FOUND", []string{"feedId"}},
		{"a like of what is malformed", "likeFeed", "FeedInput", "feed{id}", testkit.Vars{"feedId": a.ID}, "INVALID", []string{"feedId"}},
		{"a like of what is unknown", "likeFeed", "FeedInput", "feed{id}", testkit.Vars{"feedId": unknown}, "NOT_FOUND", []string{"feedId"}},
		{"a like of what is gone", "likeFeed", "FeedInput", "feed{id}", testkit.Vars{"feedId": gone}, "NOT_FOUND", []string{"feedId"}},
		{"a like of what is secret", "likeFeed", "FeedInput", "feed{id}", testkit.Vars{"feedId": private}, "NOT_FOUND", []string{"feedId"}},
		{"an unlike of what is secret", "unlikeFeed", "FeedInput", "feed{id}", testkit.Vars{"feedId": private}, "NOT_FOUND", []string{"feedId"}},
		{"an unlike of what is not liked", "unlikeFeed", "FeedInput", "feed{id}", testkit.Vars{"feedId": feed}, "NOT_LIKED", []string{"feedId"}},
		{"a comment of nothing", "createComment", "CreateCommentInput", "comment{id}", on(feed, testkit.Vars{"content": ""}), "REQUIRED", []string{"content"}},
		{"a comment of blanks", "createComment", "CreateCommentInput", "comment{id}", on(feed, testkit.Vars{"content": " \n　"}), "REQUIRED", []string{"content"}},
		{"a comment that is too long", "createComment", "CreateCommentInput", "comment{id}", on(feed, testkit.Vars{"content": long(2001)}), "TOO_LONG", []string{"content"}},
		{"a comment with an empty key", "createComment", "CreateCommentInput", "comment{id}", on(feed, testkit.Vars{"idempotencyKey": ""}), "REQUIRED", []string{"idempotencyKey"}},
		{"a comment with a key that is too long", "createComment", "CreateCommentInput", "comment{id}", on(feed, testkit.Vars{"idempotencyKey": long(256)}), "TOO_LONG", []string{"idempotencyKey"}},
		{"a comment on what is malformed", "createComment", "CreateCommentInput", "comment{id}", on(comment, nil), "INVALID", []string{"feedId"}},
		{"a comment on what is unknown", "createComment", "CreateCommentInput", "comment{id}", on(unknown, nil), "NOT_FOUND", []string{"feedId"}},
		{"a comment on what is gone", "createComment", "CreateCommentInput", "comment{id}", on(gone, nil), "NOT_FOUND", []string{"feedId"}},
		{"a comment on what is secret", "createComment", "CreateCommentInput", "comment{id}", on(private, nil), "NOT_FOUND", []string{"feedId"}},
		{"an answer to what is malformed", "createComment", "CreateCommentInput", "comment{id}", on(feed, testkit.Vars{"replyToId": feed}), "INVALID", []string{"replyToId"}},
		{"an answer to what is unknown", "createComment", "CreateCommentInput", "comment{id}", on(feed, testkit.Vars{"replyToId": strings.Replace(feed, "feed_", "comment_", 1)}), "NOT_FOUND", []string{"replyToId"}},
		{"an answer to another feed's comment", "createComment", "CreateCommentInput", "comment{id}", on(feed, testkit.Vars{"replyToId": elsewhere}), "NOT_FOUND", []string{"replyToId"}},
		{"an answer to a secret comment", "createComment", "CreateCommentInput", "comment{id}", on(feed, testkit.Vars{"replyToId": secret}), "NOT_FOUND", []string{"replyToId"}},
		{"an answer to a deleted comment", "createComment", "CreateCommentInput", "comment{id}", on(feed, testkit.Vars{"replyToId": deleted}), "NOT_FOUND", []string{"replyToId"}},
		{"an answer to an emptied comment", "createComment", "CreateCommentInput", "comment{id}", on(feed, testkit.Vars{"replyToId": emptied}), "NOT_FOUND", []string{"replyToId"}},
		{"a block of what is malformed", "blockPlayer", "PlayerInput", "player{id}", testkit.Vars{"playerId": feed}, "INVALID", []string{"playerId"}},
		{"a block of nobody", "blockPlayer", "PlayerInput", "player{id}", testkit.Vars{"playerId": strings.Replace(feed, "feed_", "player_", 1)}, "NOT_FOUND", []string{"playerId"}},
		{"a block of oneself", "blockPlayer", "PlayerInput", "player{id}", testkit.Vars{"playerId": b.ID}, "SELF_REFERENCE", []string{"playerId"}},
		{"muting oneself", "mutePlayer", "PlayerInput", "player{id}", testkit.Vars{"playerId": b.ID}, "SELF_REFERENCE", []string{"playerId"}},
		{"unmuting nobody", "unmutePlayer", "PlayerInput", "player{id}", testkit.Vars{"playerId": strings.Replace(feed, "feed_", "player_", 1)}, "NOT_FOUND", []string{"playerId"}},
		{"a report of a like", "reportContent", "ReportContentInput", "", testkit.Vars{"id": strings.Replace(feed, "feed_", "like_", 1), "reason": "x"}, "INVALID", []string{"id"}},
		{"a report of half an id", "reportContent", "ReportContentInput", "", testkit.Vars{"id": feed[:10], "reason": "x"}, "INVALID", []string{"id"}},
		{"a report of what is secret", "reportContent", "ReportContentInput", "", testkit.Vars{"id": private, "reason": "x"}, "NOT_FOUND", []string{"id"}},
		{"a report of a secret comment", "reportContent", "ReportContentInput", "", testkit.Vars{"id": secret, "reason": "x"}, "NOT_FOUND", []string{"id"}},
		{"a report of a deleted comment", "reportContent", "ReportContentInput", "", testkit.Vars{"id": deleted, "reason": "x"}, "NOT_FOUND", []string{"id"}},
		{"a report of oneself", "reportContent", "ReportContentInput", "", testkit.Vars{"id": b.ID, "reason": "x"}, "SELF_REFERENCE", []string{"id"}},
		{"a report without a reason", "reportContent", "ReportContentInput", "", testkit.Vars{"id": feed, "reason": " "}, "REQUIRED", []string{"reason"}},
		{"a report with a reason that is too long", "reportContent", "ReportContentInput", "", testkit.Vars{"id": feed, "reason": long(1001)}, "TOO_LONG", []string{"reason"}},
		{"a deletion of a malformed comment", "deleteComment", "CommentInput", "deletedCommentId", testkit.Vars{"commentId": "comment_"}, "INVALID", []string{"commentId"}},
		{"a deletion of another's comment", "deleteComment", "CommentInput", "deletedCommentId", testkit.Vars{"commentId": comment}, "NOT_FOUND", []string{"commentId"}},
		{"a deletion of a secret comment", "deleteComment", "CommentInput", "deletedCommentId", testkit.Vars{"commentId": secret}, "NOT_FOUND", []string{"commentId"}},
		{"a second deletion of a comment", "deleteComment", "CommentInput", "deletedCommentId", testkit.Vars{"commentId": deleted}, "NOT_FOUND", []string{"commentId"}},
		{"a second deletion of an emptied comment", "deleteComment", "CommentInput", "deletedCommentId", testkit.Vars{"commentId": emptied}, "NOT_FOUND", []string{"commentId"}},
		{"following oneself", "followPlayer", "PlayerInput", "player{id}", testkit.Vars{"playerId": b.ID}, "SELF_REFERENCE", []string{"playerId"}},
		{"following what is malformed", "followPlayer", "PlayerInput", "player{id}", testkit.Vars{"playerId": "player_"}, "INVALID", []string{"playerId"}},
		{"following nobody", "followPlayer", "PlayerInput", "player{id}", testkit.Vars{"playerId": strings.Replace(feed, "feed_", "player_", 1)}, "NOT_FOUND", []string{"playerId"}},
		{"unfollowing a stranger", "unfollowPlayer", "PlayerInput", "player{id}", testkit.Vars{"playerId": a.ID}, "NOT_FOLLOWING", []string{"playerId"}},
		{"a message to oneself", "sendMessage", "SendMessageInput", "message{id}", testkit.Vars{"recipientId": b.ID, "content": "x"}, "SELF_REFERENCE", []string{"recipientId"}},
		{"a message to nobody", "sendMessage", "SendMessageInput", "message{id}", testkit.Vars{"recipientId": strings.Replace(feed, "feed_", "player_", 1), "content": "x"}, "NOT_FOUND", []string{"recipientId"}},
		{"a message to what is malformed", "sendMessage", "SendMessageInput", "message{id}", testkit.Vars{"recipientId": feed, "content": "x"}, "INVALID", []string{"recipientId"}},
		{"an empty message", "sendMessage", "SendMessageInput", "message{id}", testkit.Vars{"recipientId": a.ID, "content": "　\n"}, "REQUIRED", []string{"content"}},
		{"a message that is too long", "sendMessage", "SendMessageInput", "message{id}", testkit.Vars{"recipientId": a.ID, "content": long(5001)}, "TOO_LONG", []string{"content"}},
		{"a message under an empty key", "sendMessage", "SendMessageInput", "message{id}", testkit.Vars{"recipientId": a.ID, "content": "x", "idempotencyKey": ""}, "REQUIRED", []string{"idempotencyKey"}},
		{"a deletion of an unknown message", "deleteMessage", "MessageInput", "deletedMessageId", testkit.Vars{"messageId": strings.Replace(feed, "feed_", "message_", 1)}, "NOT_FOUND", []string{"messageId"}},
		{"a deletion of what is no message", "deleteMessage", "MessageInput", "deletedMessageId", testkit.Vars{"messageId": feed}, "INVALID", []string{"messageId"}},
		{"reading another's conversation", "markConversationRead", "MarkConversationReadInput", "conversation{id unreadCount}", testkit.Vars{"conversationId": talk}, "NOT_FOUND", []string{"conversationId"}},
		{"reading what is no conversation", "markConversationRead", "MarkConversationReadInput", "conversation{id unreadCount}", testkit.Vars{"conversationId": "conversation_x"}, "INVALID", []string{"conversationId"}},
		{"a level below 0", "updateProfile", "UpdateProfileInput", "player{id}", testkit.Vars{"level": -1}, "INVALID", []string{"level"}},
		{"no level", "updateProfile", "UpdateProfileInput", "player{id}", testkit.Vars{"level": nil}, "REQUIRED", []string{"level"}},
		{"a bio that is too long", "updateProfile", "UpdateProfileInput", "player{id}", testkit.Vars{"bio": long(1001)}, "TOO_LONG", []string{"bio"}},
		{"a script for an avatar", "updateProfile", "UpdateProfileInput", "player{id}", testkit.Vars{"avatarUrl": "javascript:alert(1)"}, "INVALID", []string{"avatarUrl"}},
		{"a guild that is too long", "updateProfile", "UpdateProfileInput", "player{id}", testkit.Vars{"guildId": long(65)}, "TOO_LONG", []string{"guildId"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := b.Mutate(c.mutation, c.inputType, c.fields, c.input)
			require.NoError(t, err)
			require.Len(t, p.UserErrors, 1)
			assert.Equal(t, c.code, p.UserErrors[0].Code)
			assert.Equal(t, c.field, p.UserErrors[0].Field)
			assert.NotEmpty(t, p.UserErrors[0].Message)
		})
	}
	assert.Empty(t, b.Home(t, 10), "nothing was posted or followed")
	assert.Empty(t, open(t, b).Conversations.Nodes, "nothing was sent")
	assert.Equal(t, 1, open(t, a).UnreadCounts["total"], "nothing was read")
	assert.Equal(t, []string{private, feed}, a.Home(t, 10)[1:], "nothing of another was changed")
	assert.Equal(t, []string{comment, emptied}, a.Comments(t, feed, 10), "nothing was said or taken back")
	assert.Equal(t, map[string]int{"fanCount": 0, "followingCount": 0, "friendCount": 0}, counts(t, a))
}

func TestMutationsNeedALogin(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	a := app.SignUp(t, "ann")
	feed := a.MustPost(t, "x", "PUBLIC")
	for _, mutation := range []string{
		"logOut", `updateProfile(input:{level:2})`, `updateProfile(input:{level:null})`, fmt.Sprintf(`followPlayer(input:{playerId:%q})`, a.ID),
		fmt.Sprintf(`unfollowPlayer(input:{playerId:%q})`, a.ID), `createFeed(input:{content:"x"})`,
		fmt.Sprintf(`editFeed(input:{feedId:%q,content:"y"})`, feed), fmt.Sprintf(`deleteFeed(input:{feedId:%q})`, feed),
		fmt.Sprintf(`createComment(input:{feedId:%q,content:"x"})`, feed), `createComment(input:{feedId:"x",content:""})`,
		`deleteComment(input:{commentId:"x"})`, fmt.Sprintf(`likeFeed(input:{feedId:%q})`, feed), fmt.Sprintf(`unlikeFeed(input:{feedId:%q})`, feed),
		fmt.Sprintf(`sendMessage(input:{recipientId:%q,content:"x"})`, a.ID), `deleteMessage(input:{messageId:"x"})`, `markConversationRead(input:{conversationId:"x"})`,
		fmt.Sprintf(`blockPlayer(input:{playerId:%q})`, a.ID), fmt.Sprintf(`unblockPlayer(input:{playerId:%q})`, a.ID),
		fmt.Sprintf(`mutePlayer(input:{playerId:%q})`, a.ID), fmt.Sprintf(`unmutePlayer(input:{playerId:%q})`, a.ID),
		fmt.Sprintf(`reportContent(input:{id:%q,reason:"x"})`, feed), fmt.Sprintf(`hideFeed(input:{feedId:%q})`, feed),
	} {
		answer := app.Do(t, "", "mutation{"+mutation+"{userErrors{code}}}", nil)
		assert.Equal(t, "UNAUTHENTICATED", answer.Code(t), mutation)
	}
}

func TestATokenThatIsNotGoodRefusesTheWholeRequest(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	a := app.SignUp(t, "ann")
	for name, token := range map[string]string{
		"none at all":     "x",
		"changed":         flip(a.Token),
		"a refresh token": a.Refresh,
		"unsigned":        "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJzdWIiOiJwbGF5ZXJfMSJ9.",
	} {
		answer := app.Do(t, token, "{__typename}", nil)
		assert.Equal(t, "UNAUTHENTICATED", answer.Code(t), name)
		assert.Empty(t, answer.Data, name)
	}
}

func TestTextsComeBackAsTheyWere(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	a := app.SignUp(t, "ann")
	for name, c := range map[string]struct{ sent, want string }{
		"100,000 characters": {strings.Repeat("字", 100_000), strings.Repeat("字", 100_000)},
		"pipes and braces":   {`a|b|{"c":1}`, `a|b|{"c":1}`},
		"lone surrogates":    {`\ud83d and \udc00`, "\ufffd and \ufffd"},
		"a pair":             {`\ud83d\ude00`, "😀"},
		"zero":               {`a\u0000b`, "a\x00b"},
		"blanks around":      {"  a  ", "  a  "},
	} {
		t.Run(name, func(t *testing.T) {
			content := c.sent
			if !strings.Contains(content, `\u`) {
				quoted, err := json.Marshal(content)
				require.NoError(t, err)
				content = string(quoted[1 : len(quoted)-1])
			}
			answer := app.Post(t, a.Token, []byte(`{"query":"mutation($c:String!){createFeed(input:{content:$c}){feed{content}}}","variables":{"c":"`+content+`"}}`))
			require.Empty(t, answer.Errors, answer.Raw)
			var data struct {
				CreateFeed struct{ Feed struct{ Content string } }
			}
			require.NoError(t, json.Unmarshal(answer.Data, &data))
			assert.Equal(t, c.want, data.CreateFeed.Feed.Content)
		})
	}
}

func TestHostileDocumentsAreRefusedByTheLimits(t *testing.T) {
	app := testkit.Start(t, testkit.NewStores(t))
	var bomb strings.Builder
	bomb.WriteString(`{node(id:"x"){...f0}}`)
	for i := range 24 {
		fmt.Fprintf(&bomb, " fragment f%d on Feed{...f%d x:author{...g}}", i, i+1)
	}
	bomb.WriteString(" fragment f24 on Feed{id} fragment g on Player{id}")
	aliases := make([]string, 200)
	for i := range aliases {
		aliases[i] = fmt.Sprintf("a%d:__typename", i)
	}
	for name, query := range map[string]string{
		"5,000 repeated fields": "{" + strings.Repeat("__typename ", 5000) + "}",
		"70,000 bytes":          "{viewer{role}} " + strings.Repeat("#", 70_000),
		"200 aliases":           "{" + strings.Join(aliases, " ") + "}",
		"deep nesting":          strings.Repeat("{viewer{player{feeds{nodes{author", 30) + strings.Repeat("}}}}}", 30),
		"more than it may cost": `{homeFeed(first:100){nodes{likes(first:100){nodes{player{feeds(first:100){nodes{id}}}}}}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, "LIMIT_EXCEEDED", app.Do(t, "", query, nil).Code(t))
		})
	}
	assert.NotEmpty(t, app.Do(t, "", bomb.String(), nil).Errors, "the fragment bomb")
}

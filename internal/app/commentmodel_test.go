package app_test

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"circle/internal/testkit"
)

// modelComment is a comment, or an answer when it has a root.
type modelComment struct {
	id            string
	author        int
	content       string
	root, replyTo *modelComment
	deleted       bool
}

// answers gives the answers that stand in the thread of a comment.
func (f *modelFeed) answers(head *modelComment) []*modelComment {
	var found []*modelComment
	for _, c := range f.comments {
		if c.root == head && !c.deleted {
			found = append(found, c)
		}
	}
	return found
}

// listed says that a comment is to be seen, whole or emptied.
func (f *modelFeed) listed(c *modelComment) bool {
	return !c.deleted || c.root == nil && len(f.answers(c)) > 0
}

func (f *modelFeed) heads() []*modelComment {
	var found []*modelComment
	for _, c := range f.comments {
		if c.root == nil && f.listed(c) {
			found = append(found, c)
		}
	}
	return found
}

func (f *modelFeed) commentCount() int {
	n := 0
	for _, c := range f.comments {
		if !c.deleted {
			n++
		}
	}
	return n
}

// sees says whether a viewer of the feed sees a comment.
func (m *model) sees(viewer int, f *modelFeed, c *modelComment) bool {
	return f.listed(c) && !m.apart(viewer, c.author) && (c.root == nil || !m.apart(viewer, c.root.author))
}

// among gives the comments that a viewer sees.
func (m *model) among(viewer int, f *modelFeed, comments []*modelComment) []*modelComment {
	var seen []*modelComment
	for _, c := range comments {
		if m.sees(viewer, f, c) {
			seen = append(seen, c)
		}
	}
	return seen
}

// shown is what a viewer of the feed sees of a comment.
func (m *model) shown(viewer int, f *modelFeed, c *modelComment) *testkit.Comment {
	if c == nil || !m.sees(viewer, f, c) {
		return nil
	}
	s := &testkit.Comment{ID: c.id, Content: c.content, IsDeleted: c.deleted}
	if c.deleted {
		s.Content = ""
	}
	if c.root == nil {
		s.ReplyCount = len(f.answers(c))
		return s
	}
	s.Root = &testkit.ID{ID: c.root.id}
	if m.sees(viewer, f, c.replyTo) {
		s.ReplyTo = &testkit.ID{ID: c.replyTo.id}
	}
	return s
}

func (f *modelFeed) ids(comments []*modelComment) []string {
	ids := []string{}
	for _, c := range comments {
		ids = append(ids, c.id)
	}
	return ids
}

func (c *circle) comment(r *rapid.T) { c.say(r, c.feed(r), nil) }

func (c *circle) answer(r *rapid.T) {
	f := c.feed(r)
	if len(f.comments) == 0 {
		r.Skip("no comments yet")
	}
	c.say(r, f, rapid.SampledFrom(f.comments).Draw(r, "answered"))
}

func (c *circle) say(r *rapid.T, f *modelFeed, answered *modelComment) {
	said := &modelComment{author: c.player(r, "commenter"), content: rapid.StringMatching(`[a-z评论👍]{1,20}`).Draw(r, "text"), replyTo: answered}
	replyTo := ""
	if answered != nil {
		replyTo = answered.id
		if said.root = answered.root; said.root == nil {
			said.root = answered
		}
	}
	p, err := c.model.players[said.author].Comment(f.id, replyTo, said.content)
	require.NoError(r, err)
	if !c.model.visible(said.author, f) || answered != nil && (answered.deleted || !c.model.sees(said.author, f, answered)) {
		require.Equal(r, "NOT_FOUND", p.Code())
		return
	}
	require.Empty(r, p.UserErrors)
	said.id = p.Comment.ID
	f.comments = append(f.comments, said)
	require.Equal(r, c.model.shown(said.author, f, said), p.Comment)
}

func (c *circle) uncomment(r *rapid.T) {
	f := c.feed(r)
	if len(f.comments) == 0 {
		r.Skip("no comments yet")
	}
	deleted, i := rapid.SampledFrom(f.comments).Draw(r, "comment"), c.player(r, "deleter")
	p, err := c.model.players[i].Uncomment(deleted.id)
	require.NoError(r, err)
	if deleted.deleted || deleted.author != i || !c.model.visible(i, f) || !c.model.sees(i, f, deleted) {
		require.Equal(r, "NOT_FOUND", p.Code())
		return
	}
	require.Empty(r, p.UserErrors)
	require.Equal(r, deleted.id, p.DeletedCommentID)
	deleted.deleted = true
	require.Equal(r, c.model.shown(i, f, deleted), p.Comment)
}

const allComments = "query($id:ID!,$ids:[ID!]!){node(id:$id){... on Feed{comments{totalCount}}} " +
	"nodes(ids:$ids){... on Comment{id content isDeleted replyCount root{id} replyTo{id}}}}"

func (c *circle) checkComments(r *rapid.T, viewer int, f *modelFeed, first int) {
	p, seen := c.model.players[viewer], c.model.visible(viewer, f)
	vars := testkit.Vars{"id": f.id, "ids": f.ids(f.comments)}
	got := testkit.Read[struct {
		Node  *struct{ Comments struct{ TotalCount int } }
		Nodes []*testkit.Comment
	}](c.t, c.app, p.Token, allComments, vars)
	for i, comment := range f.comments {
		var want *testkit.Comment
		if seen {
			want = c.model.shown(viewer, f, comment)
		}
		assert.Equal(r, want, got.Nodes[i], "comment")
	}
	if !seen {
		assert.Nil(r, got.Node)
		return
	}
	assert.Equal(r, len(f.heads()), got.Node.Comments.TotalCount)
	heads := c.model.among(viewer, f, f.heads())
	assert.Equal(r, f.ids(heads), p.Comments(c.t, f.id, first), "comments")
	for _, head := range heads {
		assert.Equal(r, f.ids(c.model.among(viewer, f, f.answers(head))), p.Replies(c.t, head.id, first), "answers")
	}
}

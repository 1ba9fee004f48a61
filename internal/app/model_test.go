package app_test

import (
	"cmp"
	"slices"

	"circle/internal/testkit"
)

// model is what a circle should look like, in the plainest way that says it.
type model struct {
	players []testkit.Player
	clock   int
	// follows holds when player i began to follow player j; absent when he does not.
	follows map[[2]int]int
	// blocks and mutes hold when player i began to block or mute player j.
	blocks, mutes map[[2]int]int
	feeds         []*modelFeed
}

type modelFeed struct {
	id         string
	author     int
	visibility string
	content    string
	deleted    bool
	// likes holds when player i liked the feed.
	likes map[int]int
	// comments holds comments and answers, oldest first.
	comments []*modelComment
}

func (m *model) tick() int {
	m.clock++
	return m.clock
}

func (m *model) following(i, j int) bool {
	_, ok := m.follows[[2]int{i, j}]
	return ok
}

func (m *model) friends(i, j int) bool { return m.following(i, j) && m.following(j, i) }

func (m *model) blocking(i, j int) bool {
	_, ok := m.blocks[[2]int{i, j}]
	return ok
}

func (m *model) muting(i, j int) bool {
	_, ok := m.mutes[[2]int{i, j}]
	return ok
}

// apart says that one of the two blocks the other.
func (m *model) apart(i, j int) bool { return m.blocking(i, j) || m.blocking(j, i) }

// known says that player j is there for player i.
func (m *model) known(i, j int) bool { return m.blocking(i, j) || !m.blocking(j, i) }

func (m *model) visible(viewer int, f *modelFeed) bool {
	if f.deleted {
		return false
	}
	if viewer == f.author {
		return true
	}
	if m.apart(viewer, f.author) {
		return false
	}
	switch f.visibility {
	case "PUBLIC":
		return true
	case "FANS":
		return m.following(viewer, f.author)
	case "FRIENDS":
		return m.friends(viewer, f.author)
	}
	return false
}

// list gives the ids of the feeds that are chosen, newest first.
func (m *model) list(choose func(*modelFeed) bool) []string {
	ids := []string{}
	for _, f := range slices.Backward(m.feeds) {
		if choose(f) {
			ids = append(ids, f.id)
		}
	}
	return ids
}

func (m *model) home(viewer int) []string {
	return m.list(func(f *modelFeed) bool {
		return m.visible(viewer, f) && (f.author == viewer || m.following(viewer, f.author) && !m.muting(viewer, f.author))
	})
}

func (m *model) profile(viewer, author int) []string {
	return m.list(func(f *modelFeed) bool { return f.author == author && m.visible(viewer, f) })
}

// likers gives the players who like the feed, newest first, the viewer's friends ahead if wanted.
func (m *model) likers(viewer int, f *modelFeed, friendsFirst bool) []string {
	var who []int
	for i := range f.likes {
		if !m.apart(viewer, i) {
			who = append(who, i)
		}
	}
	slices.SortFunc(who, func(i, j int) int {
		if friendsFirst && m.friends(viewer, i) != m.friends(viewer, j) {
			if m.friends(viewer, i) {
				return -1
			}
			return 1
		}
		return cmp.Compare(f.likes[j], f.likes[i])
	})
	return m.ids(who)
}

func (m *model) friendLikes(viewer int, f *modelFeed) int {
	n := 0
	for i := range f.likes {
		if m.friends(viewer, i) {
			n++
		}
	}
	return n
}

// liked gives the feeds that a player likes and sees, newest like first.
func (m *model) liked(viewer int) []string {
	var feeds []*modelFeed
	for _, f := range m.feeds {
		if _, liked := f.likes[viewer]; liked && m.visible(viewer, f) {
			feeds = append(feeds, f)
		}
	}
	slices.SortFunc(feeds, func(a, b *modelFeed) int { return cmp.Compare(b.likes[viewer], a.likes[viewer]) })
	ids := []string{}
	for _, f := range feeds {
		ids = append(ids, f.id)
	}
	return ids
}

// tied gives the players whom a player blocks or mutes, newest first, without those who are not there for him.
func (m *model) tied(ties map[[2]int]int, of int) []string {
	var who []int
	for pair := range ties {
		if pair[0] == of && m.known(of, pair[1]) {
			who = append(who, pair[1])
		}
	}
	slices.SortFunc(who, func(i, j int) int { return cmp.Compare(ties[[2]int{of, j}], ties[[2]int{of, i}]) })
	return m.ids(who)
}

// nobody is the anonymous viewer.
const nobody = -1

// related gives a player's list of players as a viewer sees it, newest edge first.
func (m *model) related(viewer int, list string, of int) []string {
	since := map[int]int{}
	for j := range m.players {
		if m.apart(viewer, j) || m.apart(viewer, of) {
			continue
		}
		out, follows := m.follows[[2]int{of, j}]
		in, followed := m.follows[[2]int{j, of}]
		switch {
		case list == "following" && follows:
			since[j] = out
		case list == "fans" && followed:
			since[j] = in
		case list == "friends" && follows && followed:
			since[j] = max(in, out)
		}
	}
	var who []int
	for j := range since {
		who = append(who, j)
	}
	slices.SortFunc(who, func(i, j int) int { return cmp.Compare(since[j], since[i]) })
	return m.ids(who)
}

func (m *model) ids(who []int) []string {
	ids := []string{}
	for _, i := range who {
		ids = append(ids, m.players[i].ID)
	}
	return ids
}

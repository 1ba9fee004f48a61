package redisstore

import (
	"cmp"
	"slices"
	"strings"

	"circle/internal/social"
)

// nearer orders entries as the list does.
func (o order) nearer(a, b social.Entry) int {
	if o == oldest {
		return cmp.Compare(a.Key, b.Key)
	}
	return cmp.Compare(b.Key, a.Key)
}

// listModel is a list as a sorted slice.
type listModel struct {
	order           order
	cap, few        int
	building, whole bool
	epoch           string
	floor           int64
	token           string
	entries         []social.Entry
	gone            map[int64]bool // removed while it is being built
}

func (l *listModel) beyond(key int64) bool {
	if l.order == oldest {
		return l.floor != 0 && key >= l.floor
	}
	return l.floor != 0 && key <= l.floor
}

func (l *listModel) find(member int64) int {
	return slices.IndexFunc(l.entries, func(e social.Entry) bool { return e.Member == member })
}

// put adds entries as a push does; steps are visible only in what makes a building be given up.
func (l *listModel) put(entries []social.Entry) {
	for step := range slices.Chunk(entries, 16) {
		for _, e := range step {
			if !l.building && !l.whole {
				return
			}
			if l.beyond(e.Key) {
				l.token = ""
				continue
			}
			switch i := l.find(e.Member); {
			case i < 0:
				l.entries = append(l.entries, e)
			case l.entries[i].Key < e.Key:
				l.entries[i] = e
			}
		}
		l.trim()
	}
}

func (l *listModel) trim() {
	slices.SortFunc(l.entries, l.order.nearer)
	if l.building && len(l.entries)+len(l.gone) > l.cap {
		*l = listModel{order: l.order, cap: l.cap, few: l.few}
	}
	if len(l.entries) > l.cap {
		l.floor, l.token = l.entries[l.keep()].Key, ""
		l.entries = l.entries[:l.keep()]
	}
}

// keep is how many entries stay when there are too many.
func (l *listModel) keep() int {
	if l.few == 0 {
		return l.cap
	}
	return l.cap - min(15, l.cap/20)
}

// shrink drops a short list that has an end.
func (l *listModel) shrink() bool {
	if !l.whole || l.few == 0 || l.floor == 0 || len(l.entries) > l.few {
		return false
	}
	*l = listModel{order: l.order, cap: l.cap, few: l.few}
	return true
}

func (l *listModel) remove(members []int64) {
	for _, member := range members {
		i := l.find(member)
		switch {
		case i >= 0:
			l.entries = slices.Delete(l.entries, i, i+1)
		case !l.building:
			l.token = ""
		}
		if l.building {
			l.gone[member] = true
		}
	}
	l.trim()
	l.shrink()
}

func (l *listModel) begin(epoch, token string) bool {
	if l.building || l.whole && l.epoch == epoch {
		return false
	}
	*l = listModel{order: l.order, cap: l.cap, few: l.few, building: true, epoch: epoch, token: token, gone: map[int64]bool{}}
	return true
}

func (l *listModel) finish(token string, entries []social.Entry, floor int64) bool {
	if !l.building || l.token != token {
		return false
	}
	epoch, _, _ := strings.Cut(token, ".")
	gone := l.gone
	l.building, l.whole, l.epoch, l.gone = false, true, epoch, nil
	l.setFloor(floor)
	l.entries = slices.DeleteFunc(l.entries, func(e social.Entry) bool { return l.beyond(e.Key) })
	l.put(slices.DeleteFunc(slices.Clone(entries), func(e social.Entry) bool { return gone[e.Member] }))
	return !l.shrink()
}

func (l *listModel) setFloor(floor int64) {
	l.floor = floor
	if floor == 0 {
		l.token = ""
	}
}

func (l *listModel) resume(epoch, token string) bool {
	if !l.whole || l.epoch != epoch || l.floor == 0 || len(l.entries) >= l.keep() {
		return false
	}
	l.token = token
	return true
}

func (l *listModel) grow(token string, entries []social.Entry, floor int64) bool {
	if !l.whole || token == "" || l.token != token {
		return false
	}
	l.setFloor(floor)
	l.put(entries)
	return true
}

// page is what a read should give.
func (l *listModel) page(epoch string, ask social.WindowAsk) social.WindowPage {
	if !l.whole || l.epoch != epoch {
		return social.WindowPage{}
	}
	page := social.WindowPage{State: social.WindowWhole, Floor: l.floor, Size: len(l.entries)}
	page.Unfinished = l.floor != 0 && len(l.entries) < l.cap-l.cap/8
	for _, e := range l.entries {
		if l.order.nearer(e, social.Entry{Key: ask.After}) > 0 {
			page.Entries = append(page.Entries, e)
		}
	}
	page.Ended = l.floor == 0 && len(page.Entries) <= ask.Limit
	page.Entries = page.Entries[:min(len(page.Entries), ask.Limit)]
	return page
}

// membership is what a question for a member should give.
func (l *listModel) membership(epoch string, member int64) social.Membership {
	if !l.whole || l.epoch != epoch {
		return social.Membership{}
	}
	if i := l.find(member); i >= 0 {
		return social.Membership{Presence: social.PresenceYes, Key: l.entries[i].Key}
	}
	if l.floor == 0 || l.order != players && !l.beyond(member) {
		return social.Membership{Presence: social.PresenceNo}
	}
	return social.Membership{}
}

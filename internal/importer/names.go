package importer

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"circle/internal/social"
	"circle/internal/text"
)

// What the store has room for; a suffix must fit in too.
const (
	maxNameRunes    = 240
	maxNameKeyBytes = 1000
)

// cleanName is a name as text.Name would have it, without its limits.
func cleanName(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, string(unicode.ReplacementChar)))
	name := strings.Join(strings.Fields(norm.NFKC.String(s)), " ")
	for {
		runes := []rune(name)
		switch {
		case len(runes) > maxNameRunes:
			name = strings.TrimSpace(string(runes[:maxNameRunes]))
		case len(text.FoldName(name)) > maxNameKeyBytes:
			name = strings.TrimSpace(string(runes[:len(runes)/2]))
		case text.FoldName(name) == "":
			return "player"
		default:
			return name
		}
	}
}

// names hands out each name once: a name that is taken gets a number behind it.
type names struct {
	taken map[string]bool
	// next is the number to try next, by the key of the name before it.
	next map[string]int
}

func newNames() *names { return &names{taken: map[string]bool{}, next: map[string]int{}} }

// name is the base itself the first time, and with a number later. The key is its folded form.
func (n *names) name(base string) (name, key string) {
	if key = text.FoldName(base); !n.taken[key] {
		n.taken[key] = true
		return base, key
	}
	return n.another(base)
}

// another is the base with a number.
func (n *names) another(base string) (name, key string) {
	root := text.FoldName(base)
	for i := max(n.next[root], 2); ; i++ {
		name = fmt.Sprintf("%s %d", base, i)
		if key = text.FoldName(name); !n.taken[key] {
			n.taken[key], n.next[root] = true, i+1
			return name, key
		}
	}
}

// settle gives another name to each player whose name is in use in the store. The base of each
// player's name stands at the same place in bases.
func (n *names) settle(ctx context.Context, store Store, bases []string, players []social.BulkPlayer) error {
	open := make([]int, len(players))
	for i := range players {
		open[i] = i
	}
	for len(open) > 0 {
		keys := make([]string, len(open))
		for i, p := range open {
			keys[i] = players[p].NameKey
		}
		inUse, err := store.TakenNames(ctx, keys)
		if err != nil {
			return err
		}
		var again []int
		for _, p := range open {
			if player := &players[p]; inUse[player.NameKey] {
				player.Name, player.NameKey = n.another(bases[p])
				again = append(again, p)
			}
		}
		open = again
	}
	return nil
}

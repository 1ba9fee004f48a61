package testkit

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// Connection is a page as Walk reads it.
type Connection[N any] struct {
	Nodes    []N
	PageInfo struct {
		HasNextPage     bool
		HasPreviousPage bool
		EndCursor       *string
	}
}

// Walk reads all nodes of a connection, page by page. The query has the variables first and after and
// gives the connection the alias c; it may stand below other fields. Walk fails when hasNextPage and
// what follows disagree, and on a page that is longer than asked, or shorter though more follows.
func Walk[N any](t testing.TB, a *App, token, query string, first int, vars Vars) []N {
	t.Helper()
	var nodes []N
	with := Vars{"first": first}
	for k, v := range vars {
		with[k] = v
	}
	for {
		data := Read[map[string]json.RawMessage](t, a, token, query, with)
		page := connection[N](t, data)
		require.LessOrEqual(t, len(page.Nodes), first)
		require.Equal(t, with["after"] != nil, page.PageInfo.HasPreviousPage)
		nodes = append(nodes, page.Nodes...)
		if !page.PageInfo.HasNextPage {
			return nodes
		}
		require.Len(t, page.Nodes, first, "a page before the last one is full")
		with["after"] = *page.PageInfo.EndCursor
	}
}

// connection finds the member c, however deep.
func connection[N any](t testing.TB, data map[string]json.RawMessage) Connection[N] {
	t.Helper()
	for len(data) == 1 {
		for name, value := range data {
			if name == "c" {
				var page Connection[N]
				require.NoError(t, json.Unmarshal(value, &page))
				return page
			}
			data = nil
			require.NoError(t, json.Unmarshal(value, &data))
		}
	}
	require.Fail(t, "the answer has no connection c")
	return Connection[N]{}
}

// ID is a node of which only the id is read.
type ID struct{ ID string }

// IDs reads the ids of all nodes of a connection.
func IDs(t testing.TB, a *App, token, query string, first int, vars Vars) []string {
	t.Helper()
	ids := []string{}
	for _, n := range Walk[ID](t, a, token, query, first, vars) {
		ids = append(ids, n.ID)
	}
	return ids
}

const pageFields = "nodes{id} pageInfo{hasNextPage hasPreviousPage endCursor}"

// Home reads the ids of the player's whole home page in pages of the given size.
func (p Player) Home(t testing.TB, first int) []string {
	t.Helper()
	return IDs(t, p.App, p.Token, "query($first:Int!,$after:Cursor){c:homeFeed(first:$first,after:$after){"+pageFields+"}}", first, nil)
}

// Profile reads the ids of another player's feeds, as the player sees them.
func (p Player) Profile(t testing.TB, of Player, first int) []string {
	t.Helper()
	return IDs(t, p.App, p.Token, "query($id:ID!,$first:Int!,$after:Cursor){node(id:$id){... on Player{c:feeds(first:$first,after:$after){"+pageFields+"}}}}",
		first, Vars{"id": of.ID})
}

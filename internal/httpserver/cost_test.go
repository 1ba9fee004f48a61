package httpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"pgregory.net/rapid"
)

func costOf(op *ast.OperationDefinition, variables map[string]any) *gqlerror.Error {
	c := operationCost{lists: measureIntrospection(contract())}
	return c.MutateOperationContext(context.Background(), &graphql.OperationContext{Operation: op, Variables: variables})
}

func weigh(t require.TestingT, document string, variables map[string]any) weight {
	doc, errs := gqlparser.LoadQueryWithRules(contract(), document, nil)
	require.Empty(t, errs)
	w := costWalk{lists: measureIntrospection(contract()), variables: variables, fragments: map[string]weight{}}
	return w.selection(doc.Operations[0].SelectionSet)
}

func TestCost(t *testing.T) {
	ids := []any{"a", "b", "c"}
	for name, tc := range map[string]struct {
		document  string
		variables map[string]any
		cost      float64
		depth     int
	}{
		"plain fields":                 {"{viewer{role player{id}}}", nil, 4, 3},
		"a page":                       {"{homeFeed(first:10){nodes{id}}}", nil, 21, 3},
		"the default page":             {"{homeFeed{nodes{id}}}", nil, 41, 3},
		"an empty page":                {"{homeFeed(first:0){nodes{id}}}", nil, 1, 3},
		"a negative page":              {"{homeFeed(first:-5){nodes{id}}}", nil, 1, 3},
		"too large a page":             {"{homeFeed(first:2147483647){nodes{id}}}", nil, 201, 3},
		"a page by variable":           {"query($n:Int!){homeFeed(first:$n){nodes{id}}}", map[string]any{"n": int64(7)}, 15, 3},
		"a page by number as text":     {"query($n:Int!){homeFeed(first:$n){nodes{id}}}", map[string]any{"n": json.Number("7")}, 15, 3},
		"a page by text":               {"query($n:Int!){homeFeed(first:$n){nodes{id}}}", map[string]any{"n": "7"}, 15, 3},
		"a page by fraction":           {"query($n:Int!){homeFeed(first:$n){nodes{id}}}", map[string]any{"n": 7.0}, 15, 3},
		"a page by absent variable":    {"query($n:Int! = 3){homeFeed(first:$n){nodes{id}}}", map[string]any{"n": int64(3)}, 7, 3},
		"ids":                          {`{nodes(ids:["a","b"]){id}}`, nil, 3, 2},
		"ids by variable":              {"query($i:[ID!]!){feedCounters(feedIds:$i){feedId likeCount}}", map[string]any{"i": ids}, 7, 2},
		"one id for a list":            {`{nodes(ids:"a"){id}}`, nil, 2, 2},
		"pages multiply":               {"{homeFeed(first:10){nodes{likes(first:10){nodes{id}}}}}", nil, 1 + 10*(1+(1+10*2)), 5},
		"a fragment twice":             {"{a:viewer{...F} b:viewer{...F}} fragment F on Viewer{role player{id}}", nil, 8, 3},
		"inline fragments":             {`{node(id:"x"){...on Feed{id summary} ...on Player{id}}}`, nil, 4, 2},
		"introspection counts its own": {"{__type(name:\"Feed\"){name}}", nil, 2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, weight{tc.cost, tc.depth}, weigh(t, tc.document, tc.variables))
		})
	}
}

func TestWhatMustPass(t *testing.T) {
	page := `{homeFeed(first:100){edges{cursor reason node{
		id summary content visibility createdAt editedAt likeCount commentCount viewCount hasLiked
		author{id name level avatarUrl isFollowing isFriend}
		likes(first:20){totalCount friendCount nodes{isFriend likedAt player{id name level avatarUrl}} pageInfo{hasNextPage endCursor}}
	}} pageInfo{hasNextPage endCursor}}}`
	heaviest := weigh(t, page, nil)
	assert.Less(t, heaviest.cost, 0.6*MaxCost, "the heaviest page that is promised, with room to grow")
	assert.True(t, check(page))
	assert.True(t, check(introspection(t)), "the playground's introspection: %v", weigh(t, introspection(t), nil))
	assert.False(t, check("{homeFeed(first:100){nodes{likes(first:100){nodes{player{id name fanCount}}}}}}"))
}

// introspection is the query by which GraphiQL asks for the schema.
func introspection(t *testing.T) string {
	text, err := os.ReadFile("testdata/introspection.graphql")
	require.NoError(t, err)
	return string(text)
}

func TestExamplesOfThePlaygroundPass(t *testing.T) {
	text, err := os.ReadFile("../../web/playground/examples.js")
	require.NoError(t, err)
	examples := regexp.MustCompile("(?s)query: `(.*?)`,").FindAllStringSubmatch(string(text), -1)
	require.Len(t, examples, 6)
	for _, example := range examples {
		assert.True(t, check(example[1]), example[1])
	}
}

func TestDepthGoesThroughFragments(t *testing.T) {
	deep := func(n int) string {
		return "{viewer{player{...f0}}}" + chain(n, "feeds(first:1){nodes{author{...f#}}}")
	}
	assert.True(t, check(deep(6)), "viewer, player, 5 times 3, id: 18")
	assert.False(t, check(deep(7)), "21")
}

// A tree of connections weighs what its pages multiply to, computed here the plain way.
func TestCostOfTrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var build func(depth int) (string, float64)
		build = func(depth int) (string, float64) {
			document, cost := "id", 1.0
			for i := range rapid.IntRange(0, 2).Draw(t, "children") {
				if depth == 0 {
					break
				}
				first := rapid.IntRange(-2, 200).Draw(t, "first")
				inner, below := build(depth - 1)
				document += fmt.Sprintf(" c%d:friends(first:%d){nodes{%s}}", i, first, inner)
				cost += 1 + math.Min(math.Max(float64(first), 0), 100)*(1+below)
			}
			return document, cost
		}
		document, cost := build(3)
		assert.InDelta(t, 2+cost, weigh(t, "{viewer{player{"+document+"}}}", nil).cost, cost*1e-9)
	})
}

func TestChainsOfSpreadsAreLinear(t *testing.T) {
	document := "{viewer{player{...f0}}}" + chain(1000, "a:id b:id ...f# ...f#")
	doc, err := gqlparser.LoadQueryWithRules(contract(), strings.ReplaceAll(document, "\n", ""), nil)
	require.Empty(t, err)
	assert.NotNil(t, costOf(doc.Operations[0], nil), "2 to the 1000 fields")
}

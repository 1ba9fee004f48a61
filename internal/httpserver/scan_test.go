package httpserver

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
)

// series joins n texts made of 0 to n-1.
func series(n int, format string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(format, "#", fmt.Sprint(i)))
	}
	return b.String()
}

// chain is n fragments, each of which spreads the next one so often.
func chain(n int, body string) string {
	var b strings.Builder
	for i := range n - 1 {
		b.WriteString(strings.ReplaceAll(fmt.Sprintf("fragment f%d on Player {%s}", i, body), "#", fmt.Sprint(i+1)))
	}
	fmt.Fprintf(&b, "fragment f%d on Player {id}", n-1)
	return b.String()
}

func TestDocumentLimits(t *testing.T) {
	for name, tc := range map[string]struct{ allowed, refused string }{
		"bytes":              {"{id}" + strings.Repeat("#", MaxDocumentBytes-4), "{id}" + strings.Repeat("#", MaxDocumentBytes-3)},
		"tokens":             {"{" + series(MaxTokens-2, "a# ") + "}", "{" + series(MaxTokens-1, "a# ") + "}"},
		"comments as tokens": {"{id}" + strings.Repeat("#\n", MaxTokens-3), "{id}" + strings.Repeat("#\n", MaxTokens-2)},
		"levels of nesting":  {strings.Repeat("{a", MaxNesting), strings.Repeat("{a", MaxNesting+1)},
		"nested lists":       {"{a(b:" + strings.Repeat("[", MaxNesting-2), "{a(b:" + strings.Repeat("[", MaxNesting-1)},
		"aliases":            {"{" + series(MaxAliases, "a#:id ") + "}", "{" + series(MaxAliases+1, "a#:id ") + "}"},
		"directives":         {"{id" + strings.Repeat("@a", MaxDirectives) + "}", "{id" + strings.Repeat("@a", MaxDirectives+1) + "}"},
		"fragments":          {"{id}" + series(MaxFragments, "fragment F# on T{id}"), "{id}" + series(MaxFragments+1, "fragment F# on T{id}")},
		"spreads":            {"{" + series(MaxSpreads, "...F# ") + "}", "{" + series(MaxSpreads+1, "...F# ") + "}"},
		"operations":         {series(MaxOperations, "query q#{id}"), series(MaxOperations+1, "query q#{id}")},
		"equal fields":       {"{" + strings.Repeat("id ", 245) + "}", "{" + strings.Repeat("id ", 246) + "}"},
		"equal aliases":      {"{" + strings.Repeat("a:id ", 30) + "}", "{" + strings.Repeat("a:id ", 31) + "}"},
		"equal fields after a spread": {
			"{" + strings.Repeat("...F ", 50) + strings.Repeat("id ", 245) + "}",
			"{" + strings.Repeat("id ...F ", 99) + strings.Repeat("id ", 147) + "}",
		},
		"equal fields in nested inline fragments": {
			"{" + strings.Repeat("...{", 9) + strings.Repeat("id ", 77) + strings.Repeat("}", 10),
			"{" + strings.Repeat("...on T{", 9) + strings.Repeat("id ", 78) + strings.Repeat("}", 10),
		},
		"equal fields in a fragment, once for each operation": {
			series(10, "query q#{...F}") + "fragment F on T{" + strings.Repeat("id ", 77) + "}",
			series(10, "query q#{...F}") + "fragment F on T{" + strings.Repeat("id ", 78) + "}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Nil(t, scanDocument(tc.allowed))
			fault := scanDocument(tc.refused)
			require.NotNil(t, fault)
			assert.Equal(t, "LIMIT_EXCEEDED", fault.Extensions["code"])
		})
	}
}

func TestScanCountsOnlyWhatItNames(t *testing.T) {
	for name, document := range map[string]string{
		"operations do not share names":   series(10, "query q#{"+strings.Repeat("id ", 70)+"}"),
		"arguments are no aliases":        "{a(" + series(200, "b#:1 ") + ")}",
		"variables are no aliases":        "query(" + series(200, "$v#:Int ") + "){id}",
		"object fields are no fields":     "{a(b:{" + strings.Repeat("id:1 ", 400) + "})}",
		"type conditions are no fields":   "{" + series(300, "...on T{a#}") + "}",
		"a field may be called fragment":  "{" + series(40, "fragment b# ") + "}",
		"braces in arguments are values":  "{a(b:[" + strings.Repeat("{c:1}", 200) + "])}",
		"what can't be read is not ours":  "{ \x00",
		"closing too often is not ours":   "}}}}))))]]]]{id}",
		"an unterminated text is no ours": `{a(b:"`,
	} {
		t.Run(name, func(t *testing.T) { assert.Nil(t, scanDocument(document)) })
	}
}

// hostile documents: some are refused before parsing, the others must be cheap to validate.
var hostile = map[string]string{
	"chained fragments":            "{viewer{player{...f0}}}" + chain(25, "...f# x:feeds{nodes{author{...f#}}}"),
	"doubled spreads":              "{viewer{player{...f0}}}" + chain(30, "...f# ...f#"),
	"doubled fields":               "{viewer{player{...f0}}}" + chain(15, "a:feeds{nodes{author{...f#}}} b:feeds{nodes{author{...f#}}}"),
	"5,000 times __typename":       "{" + strings.Repeat("__typename ", 5000) + "}",
	"160 KB of viewer":             "{" + strings.Repeat("viewer{role}", 13_000) + "}",
	"70,000 bytes of comment":      "{viewer{role}}" + strings.Repeat("#", 70_000),
	"60,000 bytes of block string": `{player(name:"""` + strings.Repeat("\n a", 20_000) + `"""){id}}`,
	"200 aliases":                  "{" + series(200, "a#:__typename ") + "}",
	"as many equal fields as can":  "{" + strings.Repeat("__typename ", 245) + "}",
	"equal fields, inline":         "{" + strings.Repeat("...{", 18) + strings.Repeat("__typename ", 56) + strings.Repeat("}", 19),
	"equal fields, in fragments":   "{viewer{player{" + series(30, "...F# ") + "}}}" + series(30, "fragment F# on Player{id id id id id id id id}"),
	"equal fields, per operation":  series(10, "query q#{...F viewer{player{"+strings.Repeat("id ", 15)+"}}}") + "fragment F on Query{viewer{player{" + strings.Repeat("id ", 60) + "}}}",
	"unknown fields":               "{" + series(1990, "a# ") + "}",
	"unknown spreads":              "{" + series(100, "...F# ") + "}",
	"variables":                    "query(" + series(350, "$v#:Int ") + "){feedCounters(feedIds:[" + series(280, "$v# ") + "]){likeCount}}",
	"arguments":                    "{player(" + strings.Repeat(`name:"" `, 600) + "){id}}",
	"object fields":                "mutation{signUp(input:{" + strings.Repeat(`name:"" `, 600) + "}){userErrors{code}}}",
	"cycles":                       "{viewer{player{...F0}}}" + series(30, "fragment F# on Player{...F0 ...F1 ...F2}"),
	"introspection":                "{" + series(30, "a#:__schema{types{fields{type{fields{name}}}}}") + "}",
}

func TestHostileDocumentsAreCheap(t *testing.T) {
	for name, document := range hostile {
		t.Run(name, func(t *testing.T) {
			least := time.Hour
			for range 5 { // the best of five: others use this machine too
				began := time.Now()
				check(document)
				least = min(least, time.Since(began))
			}
			t.Log(least)
			assert.Less(t, least, 50*time.Millisecond)
		})
	}
}

// check does what the server does up to execution, and says whether the document would be run.
func check(document string) bool {
	if scanDocument(document) != nil {
		return false
	}
	doc, err := parser.ParseQuery(&ast.Source{Input: document})
	if err != nil || len(doc.Operations) == 0 {
		return false
	}
	if validator.ValidateWithRules(contract(), doc, validationRules(true)()) != nil {
		return false
	}
	return costOf(doc.Operations[0], map[string]any{}) == nil
}

func FuzzDocument(f *testing.F) {
	for _, document := range hostile {
		if len(document) < 4000 {
			f.Add(document)
		}
	}
	f.Add("query Q($n: Int! = 5, $i: [ID!]!) { homeFeed(first: $n) { nodes { ...F @include(if: true) } } nodes(ids: $i) { id } } fragment F on Feed { a: likes(first: 3) { totalCount } }")
	f.Fuzz(func(t *testing.T, document string) {
		if check(document) && len(document) > MaxDocumentBytes {
			t.Fatal("a document of this length must not pass")
		}
	})
}

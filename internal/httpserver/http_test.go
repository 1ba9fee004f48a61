package httpserver

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/social"
)

const typename = `{"query":"{__typename}"}`

func TestRequestShapes(t *testing.T) {
	f := start(t, options{})
	big := `{"query":"{__typename}","variables":{"a":"` + strings.Repeat("x", MaxBodyBytes) + `"}}`
	for name, tc := range map[string]struct {
		method, contentType, body string
		status                    int
		code                      string
	}{
		"plain":                     {"POST", "application/json", typename, 200, ""},
		"charset":                   {"POST", "application/json; charset=utf-8", typename, 200, ""},
		"charset in capitals":       {"POST", "Application/JSON;charset=UTF-8", typename, 200, ""},
		"quoted charset":            {"POST", `application/json; charset="utf-8"`, typename, 200, ""},
		"foreign charset":           {"POST", "application/json; charset=utf-16", typename, 415, "BAD_USER_INPUT"},
		"no content type":           {"POST", "", typename, 415, "BAD_USER_INPUT"},
		"malformed content type":    {"POST", "application/json; charset", typename, 415, "BAD_USER_INPUT"},
		"text":                      {"POST", "text/plain", typename, 415, "BAD_USER_INPUT"},
		"form":                      {"POST", "application/x-www-form-urlencoded", "query={__typename}", 415, "BAD_USER_INPUT"},
		"graphql":                   {"POST", "application/graphql", "{__typename}", 415, "BAD_USER_INPUT"},
		"GET":                       {"GET", "application/json", "", 405, "BAD_USER_INPUT"},
		"PUT":                       {"PUT", "application/json", typename, 405, "BAD_USER_INPUT"},
		"DELETE":                    {"DELETE", "", "", 405, "BAD_USER_INPUT"},
		"all members":               {"POST", "application/json", `{"query":"query Q{__typename}","operationName":"Q","variables":{},"extensions":{}}`, 200, ""},
		"null members":              {"POST", "application/json", `{"query":"{__typename}","operationName":null,"variables":null,"extensions":null}`, 200, ""},
		"unknown members":           {"POST", "application/json", `{"query":"{__typename}","id":1}`, 200, ""},
		"space around":              {"POST", "application/json", " \n" + typename + "\n ", 200, ""},
		"empty":                     {"POST", "application/json", "", 400, "BAD_USER_INPUT"},
		"null":                      {"POST", "application/json", "null", 400, "BAD_USER_INPUT"},
		"a number":                  {"POST", "application/json", "1", 400, "BAD_USER_INPUT"},
		"broken off":                {"POST", "application/json", `{"query":"{__ty`, 400, "BAD_USER_INPUT"},
		"trailing garbage":          {"POST", "application/json", typename + "x", 400, "BAD_USER_INPUT"},
		"two objects":               {"POST", "application/json", typename + typename, 400, "BAD_USER_INPUT"},
		"no query":                  {"POST", "application/json", `{}`, 400, "BAD_USER_INPUT"},
		"empty query":               {"POST", "application/json", `{"query":""}`, 400, "BAD_USER_INPUT"},
		"query of another type":     {"POST", "application/json", `{"query":{"a":1}}`, 400, "BAD_USER_INPUT"},
		"variables of another type": {"POST", "application/json", `{"query":"{__typename}","variables":[1]}`, 400, "BAD_USER_INPUT"},
		"nested without end":        {"POST", "application/json", `{"query":"{__typename}","variables":{"a":` + strings.Repeat("[", 100_000), 400, "BAD_USER_INPUT"},
		"not UTF-8":                 {"POST", "application/json", "{\"query\":\"{__typename}#\xff\"}", 400, "BAD_USER_INPUT"},
		"byte order mark":           {"POST", "application/json", "\ufeff" + typename, 400, "BAD_USER_INPUT"},
		"a lone surrogate":          {"POST", "application/json", `{"query":"{__typename} #\ud800"}`, 200, ""},
		"a batch":                   {"POST", "application/json", ` [` + typename + `]`, 400, "BAD_USER_INPUT"},
		"more than 2 MiB":           {"POST", "application/json", big, 413, "LIMIT_EXCEEDED"},
		"wrong syntax":              {"POST", "application/json", `{"query":"{"}`, 200, "BAD_USER_INPUT"},
		"no operation":              {"POST", "application/json", `{"query":"fragment F on Feed{id}"}`, 200, "BAD_USER_INPUT"},
		"only a comment":            {"POST", "application/json", `{"query":"#"}`, 200, "BAD_USER_INPUT"},
		"unknown operation":         {"POST", "application/json", `{"query":"query Q{__typename}","operationName":"R"}`, 200, "BAD_USER_INPUT"},
		"unknown field":             {"POST", "application/json", `{"query":"{viewr{role}}"}`, 200, "BAD_USER_INPUT"},
		"missing variable":          {"POST", "application/json", `{"query":"query($i:ID!){node(id:$i){id}}"}`, 200, "BAD_USER_INPUT"},
		"variable of another type":  {"POST", "application/json", `{"query":"query($n:Int!){homeFeed(first:$n){nodes{id}}}","variables":{"n":1.5}}`, 200, "BAD_USER_INPUT"},
		"subscription":              {"POST", "application/json", `{"query":"subscription{a}"}`, 200, "BAD_USER_INPUT"},
	} {
		t.Run(name, func(t *testing.T) {
			var headers []string
			if tc.contentType != "" {
				headers = []string{"Content-Type: " + tc.contentType}
			}
			r := f.send(tc.method, "/graphql", strings.NewReader(tc.body), headers...)
			require.Equal(t, tc.status, r.status, r.body)
			assert.Equal(t, "application/json; charset=utf-8", r.header.Get("Content-Type"))
			assert.Equal(t, tc.code, r.code(), r.body)
			if tc.code == "" {
				assert.JSONEq(t, `{"data":{"__typename":"Query"}}`, r.body)
				return
			}
			assert.Equal(t, r.header.Get("X-Request-Id"), r.Errors[0].Extensions.RequestID)
			assert.Nil(t, r.Data, "nothing was executed")
			assert.Less(t, len(r.body), 700, "the request is not echoed")
		})
	}
}

func TestHostileDocumentsOverHTTP(t *testing.T) {
	f := start(t, options{})
	for name, document := range hostile {
		if check(document) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			r := f.query(document, nil)
			assert.Equal(t, 200, r.status)
			assert.Contains(t, []string{"LIMIT_EXCEEDED", "BAD_USER_INPUT"}, r.code())
			assert.LessOrEqual(t, len(r.Errors), maxValidationErrors)
			r = f.query(document, nil, "Accept: application/graphql-response+json")
			assert.Equal(t, 400, r.status)
			assert.Equal(t, "application/graphql-response+json; charset=utf-8", r.header.Get("Content-Type"))
		})
	}
}

func TestLimitsAreTyped(t *testing.T) {
	f := start(t, options{})
	for name, document := range map[string]string{
		"too long":   "{__typename}" + strings.Repeat("#", MaxDocumentBytes),
		"too dear":   "{homeFeed(first:100){nodes{likes(first:100){nodes{player{id name level}}}}}}",
		"too deep":   "{viewer{player{...f0}}}" + chain(8, "feeds(first:1){nodes{author{...f#}}}"),
		"the bomb":   hostile["doubled spreads"],
		"repetition": hostile["5,000 times __typename"],
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, "LIMIT_EXCEEDED", f.query(document, nil).code()) })
	}
	r := f.query("query($n:Int!){homeFeed(first:$n){nodes{likes(first:$n){nodes{player{id name level}}}}}}", map[string]any{"n": 100})
	assert.Equal(t, "LIMIT_EXCEEDED", r.code(), "with variables")
	r = f.query("query($n:Int!){homeFeed(first:$n){nodes{likes(first:$n){nodes{player{id name level}}}}}}", map[string]any{"n": 10})
	assert.Empty(t, r.code(), "the same document, now from the cache, with other variables")
}

func TestMessagesGuessAndEchoNothing(t *testing.T) {
	f := start(t, options{})
	for name, r := range map[string]reply{
		"field":    f.query("{viewr{role}}", nil),
		"argument": f.query("{player(nme:\"x\"){id}}", nil),
		"type":     f.query("{node(id:\"x\"){...on Playr{id}}}", nil),
		"enum":     f.query("mutation{createFeed(input:{content:\"x\",visibility:PUBLI}){feed{id}}}", nil),
	} {
		assert.Equal(t, "BAD_USER_INPUT", r.code(), name)
		assert.NotContains(t, r.body, "ean", "%s: no \"did you mean\"", name)
	}
	r := f.query("mutation($i:SignUpInput!){signUp(input:$i){userErrors{code}}}",
		map[string]any{"i": map[string]any{strings.Repeat("é", 10_000): 1}})
	assert.Equal(t, "BAD_USER_INPUT", r.code())
	assert.Less(t, len(r.body), 700)
	assert.Nil(t, r.Errors[0].Path, "a path into the variables is no path of the answer")
}

func TestIntrospection(t *testing.T) {
	assert.Empty(t, start(t, options{}).query(introspection(t), nil).code())
	production := start(t, options{config: Config{Production: true}})
	for _, document := range []string{introspection(t), `{__type(name:"Feed"){name}}`} {
		assert.Equal(t, "BAD_USER_INPUT", production.query(document, nil).code())
	}
	assert.Empty(t, production.query("{__typename}", nil).code())
}

func TestAuthentication(t *testing.T) {
	var seen social.Viewer
	f := start(t, options{answer: func(ctx context.Context) *graphql.Response {
		seen = social.ViewerFrom(ctx)
		return &graphql.Response{Data: []byte(`{}`)}
	}})
	assert.Equal(t, 200, f.query("{__typename}", nil).status)
	assert.True(t, seen.Anonymous())
	assert.Equal(t, 200, f.query("{__typename}", nil, "Authorization: Bearer 7").status)
	assert.Equal(t, social.PlayerID(7), seen.Player)

	seen = social.Viewer{}
	r := f.query("{__typename}", nil, "Authorization: Bearer x")
	assert.Equal(t, 401, r.status)
	assert.Equal(t, "UNAUTHENTICATED", r.code())
	assert.Equal(t, "Bearer", r.header.Get("WWW-Authenticate"))
	assert.NotEmpty(t, r.Errors[0].Extensions.RequestID)
	assert.Nil(t, r.Data)

	r = f.query("{__typename}", nil, "Authorization: ")
	assert.Equal(t, "UNAUTHENTICATED", r.code(), "an empty header is a token that does not hold")

	r = f.query("{__typename}", nil, "Authorization: Bearer away")
	assert.Equal(t, 503, r.status)
	assert.Equal(t, "UNAVAILABLE", r.code())
	assert.NotContains(t, r.body, "secret")
}

func TestRequestIDs(t *testing.T) {
	f := start(t, options{})
	for name, tc := range map[string]struct {
		id   string
		kept bool
	}{
		"sane":            {"abc-123_X.y", true},
		"as long as can":  {strings.Repeat("a", 64), true},
		"too long":        {strings.Repeat("a", 65), false},
		"with spaces":     {"a b", false},
		"with a newline":  {`a\nb"`, false},
		"not ASCII":       {"né", false},
		"empty":           {"", false},
		"a fake log line": {"x level=ERROR", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := f.query("{", nil, "X-Request-Id: "+tc.id)
			got := r.header.Get("X-Request-Id")
			assert.Equal(t, tc.kept, got == tc.id)
			assert.NotEmpty(t, got)
			assert.Equal(t, got, r.Errors[0].Extensions.RequestID)
			assert.Contains(t, f.logs.String(), `"requestId":"`+got+`"`)
		})
	}
	assert.NotEqual(t, f.query("{__typename}", nil).header.Get("X-Request-Id"), f.query("{__typename}", nil).header.Get("X-Request-Id"))
}

func TestPanicsAreInternalWithoutText(t *testing.T) {
	f := start(t, options{
		answer: func(context.Context) *graphql.Response { panic("secret of the resolver") },
		change: func(d *Deps) {
			d.Ready = func(context.Context) error { panic("secret of readiness") }
		},
	})
	r := f.query("{__typename}", nil)
	assert.Equal(t, 500, r.status)
	assert.Equal(t, "INTERNAL", r.code())
	assert.NotContains(t, r.body, "secret")
	assert.NotEmpty(t, r.Errors[0].Extensions.RequestID)

	r = f.send(http.MethodGet, "/readyz", nil)
	assert.Equal(t, 500, r.status)
	assert.Equal(t, "INTERNAL", r.code())
	assert.NotContains(t, r.body, "secret")
	assert.Equal(t, 200, f.send(http.MethodGet, "/healthz", nil).status, "the process goes on")
}

func TestAnswersAreWrittenErrorsFirst(t *testing.T) {
	f := start(t, options{answer: func(ctx context.Context) *graphql.Response {
		graphql.AddError(ctx, social.Fail(social.CodeForbidden, "Not yours."))
		graphql.RegisterExtension(ctx, "trips", 3)
		return &graphql.Response{Data: []byte(`null`)}
	}})
	r := f.query("{__typename}", nil, "X-Request-Id: r1")
	assert.Equal(t, 200, r.status)
	assert.Equal(t, `{"errors":[{"message":"Not yours.","extensions":{"code":"FORBIDDEN","requestId":"r1"}}],"data":null,"extensions":{"trips":3}}`, r.body)
	assert.Equal(t, strconv.Itoa(len(r.body)), r.header.Get("Content-Length"))
}

func TestExtensionsSeeEachResponse(t *testing.T) {
	calls := 0
	count := handler.ResponseFunc(func(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
		calls++
		return next(ctx)
	})
	f := start(t, options{change: func(d *Deps) { d.Extensions = []graphql.HandlerExtension{count} }})
	f.query("{__typename}", nil)
	assert.Equal(t, 1, calls)
}

func TestCrossOrigin(t *testing.T) {
	f := start(t, options{config: Config{AllowedOrigins: []string{"https://app.example", "*"}}})
	for origin, allowed := range map[string]bool{
		"https://app.example": true, "http://app.example": false, "https://app.example.evil": false,
		"https://app.example:8443": false, "https://other.example": false, "null": false,
	} {
		r := f.send(http.MethodOptions, "/graphql", nil, "Origin: "+origin, "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization,content-type")
		want := ""
		if allowed {
			want = origin
		}
		assert.Equal(t, want, r.header.Get("Access-Control-Allow-Origin"), origin)
		assert.Equal(t, want, f.query("{__typename}", nil, "Origin: "+origin).header.Get("Access-Control-Allow-Origin"), origin)
	}
	none := start(t, options{})
	assert.Empty(t, none.query("{__typename}", nil, "Origin: https://app.example").header.Get("Access-Control-Allow-Origin"))
	r := none.send(http.MethodOptions, "/graphql", nil)
	assert.Equal(t, 204, r.status)
	assert.Equal(t, "OPTIONS, POST", r.header.Get("Allow"))
}

func TestManyVariables(t *testing.T) {
	f := start(t, options{})
	ids := make([]string, MaxVariableValues+1)
	deep := any(1)
	for range MaxVariableValues {
		deep = []any{deep}
	}
	wide := map[string]any{}
	for i := range MaxVariableValues {
		wide[strconv.Itoa(i)] = nil
	}
	for name, value := range map[string]any{"a list": ids, "nested lists": deep, "an object": wide, "lists of lists": [][]string{ids[:2500], ids[:2500]}} {
		r := f.query("query($i:[ID!]!){nodes(ids:$i){id}}", map[string]any{"i": value})
		assert.Equal(t, "LIMIT_EXCEEDED", r.code(), name)
		assert.Contains(t, r.Errors[0].Message, "values", name)
	}
	assert.Empty(t, f.query("query($i:[ID!]!){nodes(ids:$i){id}}", map[string]any{"i": ids[:MaxVariableValues-2]}).code())
}

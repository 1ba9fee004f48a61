package httpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"mime"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"circle/internal/social"
)

const (
	mediaJSON     = "application/json"
	mediaResponse = "application/graphql-response+json"

	// MaxBodyBytes bounds the body of a request.
	MaxBodyBytes = 2 << 20
	// requestTimeout is the deadline of a whole operation, the reading of its body included.
	requestTimeout = 10 * time.Second
)

// post is the transport of queries and mutations: GraphQL over HTTP, POST with JSON only.
type post struct {
	present graphql.ErrorPresenterFunc
	timeout time.Duration
}

var _ graphql.Transport = post{}

// Supports says whether the request is a POST with a JSON body in UTF-8.
func (post) Supports(r *http.Request) bool {
	mediaType, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || r.Method != http.MethodPost || mediaType != mediaJSON {
		return false
	}
	charset := strings.ToLower(params["charset"])
	return charset == "" || charset == "utf-8" || charset == "utf8"
}

// Do runs one operation.
func (t post) Do(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	ctx, cancel := context.WithTimeout(r.Context(), t.timeout)
	defer cancel()
	w.Header().Set("Content-Type", responseType(r)) // also for an answer after a panic

	params, status, refused := readParams(w, r)
	if refused != nil {
		writeError(ctx, w, responseType(r), status, t.present(ctx, refused))
		return
	}
	op, errs := exec.CreateOperationContext(ctx, params)
	if op.Operation != nil {
		outcomeFrom(ctx).operation = string(op.Operation.Operation)
	}
	if errs == nil && op.Operation.Operation == ast.Subscription {
		errs = gqlerror.List{fault(social.CodeBadUserInput, "Subscribe by a websocket, or accept text/event-stream.")}
	}
	if errs != nil {
		setRetryAfter(w, errs[0])
		response := exec.DispatchError(graphql.WithOperationContext(ctx, op), errs)
		response.Data = nil
		writeResponse(ctx, w, responseType(r), statusOf(codeOf(response.Errors), responseType(r)), response)
		return
	}
	next, ctx := exec.DispatchOperation(ctx, op)
	response := next(ctx)
	if response == nil { // the deadline came first
		late := t.present(ctx, social.Unavailable(context.Cause(ctx)))
		writeError(ctx, w, responseType(r), http.StatusServiceUnavailable, late)
		return
	}
	writeResponse(ctx, w, responseType(r), http.StatusOK, response)
}

// readParams reads the body: one JSON object of the protocol and nothing behind it.
func readParams(w http.ResponseWriter, r *http.Request) (*graphql.RawParams, int, *gqlerror.Error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBodyBytes))
	if err != nil {
		return unreadable(err)
	}
	params, refused := decodeParams(body)
	if refused != nil {
		return nil, http.StatusBadRequest, refused
	}
	params.Headers = r.Header
	return params, 0, nil
}

// decodeParams reads what asks for an operation.
func decodeParams(body []byte) (*graphql.RawParams, *gqlerror.Error) {
	if !utf8.Valid(body) {
		return nil, fault(social.CodeBadUserInput, "The body is not UTF-8.")
	}
	if bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("[")) {
		return nil, fault(social.CodeBadUserInput, "Batches are not supported. Send one operation a request.")
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var params *graphql.RawParams
	if err := decoder.Decode(&params); err != nil || params == nil {
		return nil, fault(social.CodeBadUserInput,
			"The body is not a JSON object with a string query and, if need be, operationName, variables and extensions.")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, fault(social.CodeBadUserInput, "Something follows the JSON object.")
	}
	if params.Query == "" {
		return nil, fault(social.CodeBadUserInput, "The query is missing.")
	}
	return params, nil
}

func unreadable(err error) (*graphql.RawParams, int, *gqlerror.Error) {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, http.StatusRequestEntityTooLarge, fault(social.CodeLimitExceeded, "The body is larger than 2 MiB.")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, http.StatusRequestTimeout, fault(social.CodeBadUserInput, "The body took too long to arrive.")
	}
	return nil, http.StatusBadRequest, fault(social.CodeBadUserInput, "The body broke off.")
}

// responseType is the media type of the answer: the newer one for those who ask for it.
func responseType(r *http.Request) string {
	for accept := range strings.SplitSeq(r.Header.Get("Accept"), ",") {
		if mediaType, _, err := mime.ParseMediaType(accept); err == nil && mediaType == mediaResponse {
			return mediaResponse + "; charset=utf-8"
		}
	}
	return mediaJSON + "; charset=utf-8"
}

// setRetryAfter tells a client that was too fast when to come back, in whole seconds.
func setRetryAfter(w http.ResponseWriter, err error) {
	var soon *tooSoon
	if errors.As(err, &soon) {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(soon.retryAfter.Seconds()))))
	}
}

// writeError answers a request that never became an operation.
func writeError(ctx context.Context, w http.ResponseWriter, mediaType string, status int, err *gqlerror.Error) {
	writeResponse(ctx, w, mediaType, status, &graphql.Response{Errors: gqlerror.List{err}})
}

func writeResponse(ctx context.Context, w http.ResponseWriter, mediaType string, status int, response *graphql.Response) {
	outcomeFrom(ctx).code = codeOf(response.Errors)
	body := encodeResponse(response)
	header := w.Header()
	header.Set("Content-Type", mediaType)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body) // whoever hung up hears nothing
}

// encodeResponse puts errors first, and data only where execution began.
func encodeResponse(response *graphql.Response) []byte {
	body := make([]byte, 0, len(response.Data)+256)
	body = append(body, '{')
	body = appendMember(body, "errors", response.Errors, len(response.Errors))
	if response.Data != nil {
		body = appendKey(body, "data")
		body = append(body, response.Data...)
	}
	body = appendMember(body, "extensions", response.Extensions, len(response.Extensions))
	return append(body, '}')
}

func appendMember(body []byte, key string, value any, size int) []byte {
	if size == 0 {
		return body
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(err) // an error or extension that is no JSON: a bug, answered as one
	}
	return append(appendKey(body, key), encoded...)
}

func appendKey(body []byte, key string) []byte {
	if len(body) > 1 {
		body = append(body, ',')
	}
	return append(append(append(body, '"'), key...), '"', ':')
}

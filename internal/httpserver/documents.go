package httpserver

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/vektah/gqlparser/v2/ast"
)

// The cache of parsed documents is bounded in entries, and holds only short documents, because a
// tree is much larger than its text.
const (
	cachedDocuments        = 200
	maxCachedDocumentBytes = 4 << 10
)

// documentCache keeps documents that have passed all checks, by their text.
type documentCache struct{ *lru.LRU[*ast.QueryDocument] }

var _ graphql.Cache[*ast.QueryDocument] = documentCache{}

func newDocumentCache() documentCache {
	return documentCache{lru.New[*ast.QueryDocument](cachedDocuments)}
}

// Add keeps a document unless it is long.
func (c documentCache) Add(ctx context.Context, text string, document *ast.QueryDocument) {
	if len(text) <= maxCachedDocumentBytes {
		c.LRU.Add(ctx, text, document)
	}
}

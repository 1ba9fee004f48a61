package httpserver

import (
	"context"
	"fmt"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/lexer"

	"circle/internal/social"
)

// Limits of a document, checked before it is parsed. docs/decisions/007-request-limits.md gives
// the measurements behind them.
const (
	MaxDocumentBytes = 64 << 10
	MaxTokens        = 2000
	// MaxNesting bounds braces, brackets and parentheses together.
	MaxNesting    = 20
	MaxAliases    = 30
	MaxDirectives = 50
	MaxFragments  = 30
	// MaxSpreads bounds the uses of fragments, which validation compares in pairs.
	MaxSpreads    = 100
	MaxOperations = 10
	// MaxMerges bounds the comparisons by which validation finds out whether fields of one name
	// agree: pairs of equal response names, once more for each inline fragment around them, and
	// those in fragments once for each operation.
	MaxMerges = 30_000
	// MaxVariableValues bounds the values in the variables, those within lists and objects too.
	MaxVariableValues = 5000
)

// documentLimits refuses documents whose parsing or validation would cost too much. It reads the
// tokens once, so its own cost is linear in the bytes.
type documentLimits struct {
	// accepted holds documents that have passed before.
	accepted graphql.Cache[*ast.QueryDocument]
}

var _ graphql.OperationParameterMutator = documentLimits{}

// ExtensionName names the extension.
func (documentLimits) ExtensionName() string { return "DocumentLimits" }

// Validate has nothing to check against a schema.
func (documentLimits) Validate(graphql.ExecutableSchema) error { return nil }

// MutateOperationParameters changes nothing; it fails with LIMIT_EXCEEDED.
func (l documentLimits) MutateOperationParameters(ctx context.Context, params *graphql.RawParams) *gqlerror.Error {
	if countValues(params.Variables, MaxVariableValues) > MaxVariableValues {
		return fault(social.CodeLimitExceeded, fmt.Sprintf("The variables hold more than %d values.", MaxVariableValues))
	}
	if _, ok := l.accepted.Get(ctx, params.Query); ok {
		return nil
	}
	return scanDocument(params.Query)
}

// countValues counts what a variable holds, itself included, and stops soon after enough.
func countValues(value any, enough int) int {
	n := 1
	switch v := value.(type) {
	case []any:
		for i := 0; i < len(v) && n <= enough; i++ {
			n += countValues(v[i], enough-n)
		}
	case map[string]any:
		for _, inner := range v {
			if n > enough {
				break
			}
			n += countValues(inner, enough-n)
		}
	}
	return n
}

// scanDocument counts what a document holds. It stops quietly where the lexer does: the parser
// says it better.
func scanDocument(document string) *gqlerror.Error {
	if len(document) > MaxDocumentBytes {
		return tooMuch("bytes", MaxDocumentBytes)
	}
	lex := lexer.New(&ast.Source{Input: document})
	s := scanner{names: map[string]int{}}
	for {
		token, err := lex.ReadToken()
		if err != nil || token.Kind == lexer.EOF {
			return s.finish()
		}
		if fault := s.add(token); fault != nil {
			return fault
		}
	}
}

// scanner is the state of one walk over the tokens of a document.
type scanner struct {
	tokens, aliases, directives, fragments, spreads, operations int
	// depth counts what is open, parens the parentheses among it.
	depth, parens int
	// inFragment says that the definition at hand is a fragment.
	inFragment bool
	// last is the token before, comments aside.
	last lexer.Type
	// typeNext says that last is the "on" of a spread, inlineNext that the next brace opens an
	// inline fragment; inline counts those open, inlines has a bit for the depth of each.
	typeNext, inlineNext bool
	inline               int
	inlines              uint32
	// names counts fields by response name; the pairs are those they make, by where they stand.
	names                          map[string]int
	operationPairs, fragmentsPairs int
}

func (s *scanner) add(token lexer.Token) *gqlerror.Error {
	if token.Kind == lexer.Comment {
		return over(&s.tokens, MaxTokens, "tokens")
	}
	fault := over(&s.tokens, MaxTokens, "tokens")
	if fault == nil {
		fault = s.count(token)
	}
	s.last = token.Kind
	return fault
}

func (s *scanner) count(token lexer.Token) *gqlerror.Error {
	switch token.Kind {
	case lexer.BraceL, lexer.BracketL, lexer.ParenL:
		return s.open(token.Kind)
	case lexer.BraceR, lexer.BracketR, lexer.ParenR:
		s.close(token.Kind)
	case lexer.At:
		return over(&s.directives, MaxDirectives, "directives")
	case lexer.Colon:
		if s.parens == 0 {
			return over(&s.aliases, MaxAliases, "aliases")
		}
	case lexer.Spread:
		s.inlineNext = true
	case lexer.Name:
		return s.name(token.Value)
	}
	return nil
}

func (s *scanner) open(kind lexer.Type) *gqlerror.Error {
	if fault := over(&s.depth, MaxNesting, "levels of nesting"); fault != nil {
		return fault
	}
	switch {
	case kind == lexer.ParenL:
		s.parens++
	case kind == lexer.BraceL && s.depth == 1 && !s.inFragment:
		clear(s.names)
		return over(&s.operations, MaxOperations, "operations")
	case kind == lexer.BraceL && s.parens == 0 && s.inlineNext:
		s.inlineNext = false
		s.inline++
		s.inlines |= 1 << s.depth
	}
	return nil
}

func (s *scanner) close(kind lexer.Type) {
	if bit := uint32(1) << s.depth; s.inlines&bit != 0 {
		s.inlines &^= bit
		s.inline--
	}
	s.depth = max(s.depth-1, 0)
	if kind == lexer.ParenR {
		s.parens = max(s.parens-1, 0)
	}
	if s.depth == 0 {
		s.inFragment = false
	}
}

// name tells fragments, spreads and fields apart. A name in a selection set is a field's response
// name unless it follows a spread, an at sign, an alias's colon, or the "on" of a spread.
func (s *scanner) name(value string) *gqlerror.Error {
	switch {
	case s.depth == 0:
		if value == "fragment" && !s.inFragment {
			s.inFragment = true
			return over(&s.fragments, MaxFragments, "fragments")
		}
	case s.typeNext:
		s.typeNext = false
	case s.last == lexer.Spread && value == "on":
		s.typeNext = true
	case s.last == lexer.Spread:
		s.inlineNext = false
		return over(&s.spreads, MaxSpreads, "fragment spreads")
	case s.parens > 0 || s.last == lexer.At || s.last == lexer.Colon:
	default:
		s.field(value)
	}
	return nil
}

func (s *scanner) field(responseName string) {
	pairs := s.names[responseName] * (1 + s.inline)
	s.names[responseName]++
	if s.inFragment {
		s.fragmentsPairs += pairs
	} else {
		s.operationPairs += pairs
	}
}

func (s *scanner) finish() *gqlerror.Error {
	if s.operationPairs+s.fragmentsPairs*max(s.operations, 1) > MaxMerges {
		return fault(social.CodeLimitExceeded, "The document repeats the same fields too often.")
	}
	return nil
}

// over counts one more of something, and fails when that is more than the limit.
func over(counter *int, limit int, what string) *gqlerror.Error {
	if *counter++; *counter > limit {
		return tooMuch(what, limit)
	}
	return nil
}

func tooMuch(what string, limit int) *gqlerror.Error {
	return fault(social.CodeLimitExceeded, fmt.Sprintf("The document has more than %d %s.", limit, what))
}

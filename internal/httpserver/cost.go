package httpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"circle/internal/social"
)

// Limits of an operation, checked when its variables are known and nothing has run yet.
const (
	// MaxCost bounds the fields that an answer can have. A page of 100 feeds with author, counters,
	// hasLiked and 20 likers each with their player costs 15,000 to 30,000.
	MaxCost = 50_000
	// MaxDepth bounds how deep fields nest, through fragments too.
	MaxDepth = 20
)

// operationCost refuses operations whose answer could be too large. A field costs 1, and what is
// selected below it counts as often as the field can return it: `first` times for a connection,
// once per id for a list of ids. Lists without either (edges, nodes, userErrors) are bounded by
// what stands above them. Directives are taken as if everything were included.
type operationCost struct{ lists introspectionLists }

var _ graphql.OperationContextMutator = operationCost{}

// ExtensionName names the extension.
func (operationCost) ExtensionName() string { return "OperationCost" }

// Validate has nothing to check against a schema.
func (operationCost) Validate(graphql.ExecutableSchema) error { return nil }

// MutateOperationContext changes nothing; it fails with LIMIT_EXCEEDED.
func (c operationCost) MutateOperationContext(_ context.Context, op *graphql.OperationContext) *gqlerror.Error {
	w := costWalk{lists: c.lists, variables: op.Variables, fragments: map[string]weight{}}
	total := w.selection(op.Operation.SelectionSet)
	switch {
	case total.depth > MaxDepth:
		return fault(social.CodeLimitExceeded, fmt.Sprintf("The operation nests deeper than %d fields.", MaxDepth))
	case total.cost > MaxCost:
		return fault(social.CodeLimitExceeded, fmt.Sprintf("The operation asks for more than %d fields. Ask for smaller pages.", MaxCost))
	}
	return nil
}

// weight is what a selection costs and how deep it goes. Costs are floats because they grow to
// infinity rather than past it.
type weight struct {
	cost  float64
	depth int
}

// costWalk visits each selection of an operation once; what a fragment weighs does not depend on
// where it is spread.
type costWalk struct {
	lists     introspectionLists
	variables map[string]any
	fragments map[string]weight
}

func (w *costWalk) selection(set ast.SelectionSet) weight {
	var sum weight
	for _, selection := range set {
		var part weight
		switch s := selection.(type) {
		case *ast.Field:
			part = w.field(s)
		case *ast.InlineFragment:
			part = w.selection(s.SelectionSet)
		case *ast.FragmentSpread:
			part = w.fragment(s)
		}
		sum.cost += part.cost
		sum.depth = max(sum.depth, part.depth)
	}
	return sum
}

func (w *costWalk) field(f *ast.Field) weight {
	below := w.selection(f.SelectionSet)
	cost := 1.0
	if below.cost > 0 {
		cost += w.times(f) * below.cost
	}
	return weight{cost, below.depth + 1}
}

func (w *costWalk) fragment(spread *ast.FragmentSpread) weight {
	if spread.Definition == nil {
		return weight{}
	}
	known, ok := w.fragments[spread.Name]
	if !ok {
		w.fragments[spread.Name] = weight{} // ends a cycle, which validation refuses anyway
		known = w.selection(spread.Definition.SelectionSet)
		w.fragments[spread.Name] = known
	}
	return known
}

// times tells how often a field can return what is selected below it.
func (w *costWalk) times(f *ast.Field) float64 {
	if f.Definition == nil {
		return 1
	}
	for _, def := range f.Definition.Arguments {
		if def.Name == "first" {
			return pageSize(w.argument(f, def))
		}
		if def.Type.Elem != nil {
			return float64(listLength(w.argument(f, def)))
		}
	}
	if f.Definition.Type.Elem != nil && f.ObjectDefinition != nil {
		return w.lists.length(f.ObjectDefinition.Name, f.Name)
	}
	return 1
}

// argument is the value of an argument, its default where none is given. What can't be read is the
// field's to report.
func (w *costWalk) argument(f *ast.Field, def *ast.ArgumentDefinition) any {
	given := f.Arguments.ForName(def.Name)
	if given == nil || given.Value.Kind == ast.Variable && !w.has(given.Value.Raw) {
		value, _ := def.DefaultValue.Value(nil)
		return value
	}
	value, err := given.Value.Value(w.variables)
	if err != nil {
		return social.MaxPage
	}
	return value
}

func (w *costWalk) has(variable string) bool {
	_, ok := w.variables[variable]
	return ok
}

// pageSize is the size of a page within 0 to 100; a size outside is refused by the field itself.
func pageSize(first any) float64 {
	n := float64(social.MaxPage)
	switch v := first.(type) {
	case int64:
		n = float64(v)
	case float64:
		n = v
	case json.Number:
		n, _ = v.Float64()
	case string:
		n, _ = strconv.ParseFloat(v, 64)
	}
	if math.IsNaN(n) {
		return social.MaxPage
	}
	return min(max(n, 0), social.MaxPage)
}

func listLength(list any) int {
	if items, ok := list.([]any); ok {
		return len(items)
	}
	return 1 // a single value is a list of one
}

// introspectionLists are the average lengths of the lists by which a schema describes itself, by
// type and field.
type introspectionLists map[string]float64

func (l introspectionLists) length(object, field string) float64 {
	if n, ok := l[object+"."+field]; ok {
		return n
	}
	return 1
}

func measureIntrospection(schema *ast.Schema) introspectionLists {
	var types, fields, args, inputs, values float64
	for _, def := range schema.Types {
		types++
		values += float64(len(def.EnumValues))
		if def.Kind == ast.InputObject {
			inputs += float64(len(def.Fields))
			continue
		}
		fields += float64(len(def.Fields))
		for _, field := range def.Fields {
			args += float64(len(field.Arguments))
		}
	}
	types, fields = max(types, 1), max(fields, 1)
	return introspectionLists{
		"__Schema.types":       types,
		"__Schema.directives":  float64(len(schema.Directives)),
		"__Type.fields":        fields / types,
		"__Type.inputFields":   inputs / types,
		"__Type.enumValues":    values / types,
		"__Type.possibleTypes": 1,
		"__Field.args":         args / fields,
	}
}

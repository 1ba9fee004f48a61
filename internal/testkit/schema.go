package testkit

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Schema is a server's schema, as it tells by introspection, for tests that walk all of it.
type Schema struct{ types map[string]schemaType }

type schemaType struct {
	Kind, Name    string
	Fields        []SchemaField
	InputFields   []SchemaArgument
	PossibleTypes []struct{ Name string }
}

// SchemaField is a field of a type.
type SchemaField struct {
	Name string
	Args []SchemaArgument
	Type schemaRef
}

// SchemaArgument is an argument, or a field of an input.
type SchemaArgument struct {
	Name         string
	Type         schemaRef
	DefaultValue *string
}

type schemaRef struct {
	Kind, Name string
	OfType     *schemaRef
}

// named is the type within lists and non-nulls.
func (r schemaRef) named() string {
	for r.OfType != nil {
		r = *r.OfType
	}
	return r.Name
}

// Required says that a value must be given.
func (a SchemaArgument) Required() bool { return a.Type.Kind == "NON_NULL" && a.DefaultValue == nil }

// Of is the argument's type, within lists and non-nulls.
func (a SchemaArgument) Of() string { return a.Type.named() }

const introspection = `{__schema{types{kind name possibleTypes{name} inputFields{name defaultValue type{...ref}}
	fields{name args{name defaultValue type{...ref}} type{...ref}}}}}
	fragment ref on __Type{kind name ofType{kind name ofType{kind name ofType{kind name}}}}`

// Schema asks the server for its schema.
func (a *App) Schema(t testing.TB) *Schema {
	t.Helper()
	answer := Read[struct {
		Schema struct{ Types []schemaType } `json:"__schema"`
	}](t, a, "", introspection, nil)
	s := &Schema{types: map[string]schemaType{}}
	for _, of := range answer.Schema.Types {
		s.types[of.Name] = of
	}
	return s
}

// Nodes lists the types that have a global id.
func (s *Schema) Nodes() []string {
	var names []string
	for _, of := range s.types["Node"].PossibleTypes {
		names = append(names, of.Name)
	}
	return names
}

// Node asks for all of a node of a type.
func (s *Schema) Node(of string) string {
	return fmt.Sprintf("query($id:ID!){node(id:$id){__typename ... on %s{%s}}}", of, s.fields(of, nil))
}

// Roots asks for all of each root field that needs no arguments, a query for each.
func (s *Schema) Roots() map[string]string {
	queries := map[string]string{}
	for _, f := range s.types["Query"].Fields {
		if selected, ok := s.field(f, nil); ok {
			queries[f.Name] = "{" + selected + "}"
		}
	}
	return queries
}

// fields selects all fields of a type that need no arguments: of nodes below it what is no object, where any type may
// stand the id, of other objects all again.
func (s *Schema) fields(name string, above []string) string {
	selected := []string{"__typename"}
	if slices.Contains(above, name) {
		return "__typename"
	}
	above = append(slices.Clone(above), name)
	for _, f := range s.types[name].Fields {
		if text, ok := s.field(f, above); ok {
			selected = append(selected, text)
		}
	}
	return strings.Join(selected, " ")
}

func (s *Schema) field(f SchemaField, above []string) (string, bool) {
	args := ""
	for _, a := range f.Args {
		if a.Required() {
			return "", false
		}
		if a.Name == "first" {
			args = "(first:5)"
		}
	}
	of := s.types[f.Type.named()]
	switch {
	case of.Kind == "SCALAR" || of.Kind == "ENUM":
		return f.Name + args, true
	case f.Name == "edges" && slices.ContainsFunc(s.types[above[len(above)-1]].Fields, func(f SchemaField) bool { return f.Name == "nodes" }):
		return "", false // the same once more
	case of.Kind == "OBJECT" && len(above) > 0 && slices.Contains(s.Nodes(), of.Name):
		return f.Name + args + "{" + s.leaves(of) + "}", true
	case of.Kind == "OBJECT":
		return f.Name + args + "{" + s.fields(of.Name, above) + "}", true
	}
	var possible strings.Builder
	for _, p := range of.PossibleTypes {
		if slices.Contains(s.Nodes(), p.Name) {
			fmt.Fprintf(&possible, " ... on %s{id}", p.Name)
		}
	}
	return f.Name + args + "{__typename" + possible.String() + "}", true
}

// leaves selects what is no object.
func (s *Schema) leaves(of schemaType) string {
	selected := []string{"__typename"}
	for _, f := range of.Fields {
		if kind := s.types[f.Type.named()].Kind; len(f.Args) == 0 && (kind == "SCALAR" || kind == "ENUM") {
			selected = append(selected, f.Name)
		}
	}
	return strings.Join(selected, " ")
}

// SchemaMutation is a mutation of one input.
type SchemaMutation struct {
	Name string
	// Input are the fields that must be given.
	Input []SchemaArgument
	// Query runs it with the input in the variable i.
	Query string
}

// Mutations lists all mutations of one input.
func (s *Schema) Mutations() []SchemaMutation {
	var mutations []SchemaMutation
	for _, f := range s.types["Mutation"].Fields {
		if len(f.Args) != 1 || f.Args[0].Name != "input" {
			continue
		}
		m := SchemaMutation{Name: f.Name}
		for _, field := range s.types[f.Args[0].Of()].InputFields {
			if field.Required() {
				m.Input = append(m.Input, field)
			}
		}
		payload := s.fields(f.Type.named(), nil)
		m.Query = fmt.Sprintf("mutation($i:%s!){r:%s(input:$i){%s}}", f.Args[0].Of(), f.Name, payload)
		mutations = append(mutations, m)
	}
	return mutations
}

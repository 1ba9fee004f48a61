package httpserver

import (
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// maxValidationErrors bounds what a wrong document is told about itself.
const maxValidationErrors = 20

// withoutSuggestions holds the rules that would otherwise guess what was meant, by comparing a
// name with all others, and tell the schema to whoever asks.
var withoutSuggestions = []validator.Rule{
	rules.FieldsOnCorrectTypeRuleWithoutSuggestions,
	rules.KnownArgumentNamesRuleWithoutSuggestions,
	rules.KnownTypeNamesRuleWithoutSuggestions,
	rules.ScalarLeafsRuleWithoutSuggestions,
	rules.ValuesOfCorrectTypeRuleWithoutSuggestions,
}

// noIntrospection refuses to describe the schema.
var noIntrospection = validator.Rule{
	Name: "NoIntrospection",
	RuleFunc: func(observers *validator.Events, addError validator.AddErrFunc) {
		observers.OnField(func(_ *validator.Walker, field *ast.Field) {
			if field.Name == "__schema" || field.Name == "__type" {
				addError(core.Message("Introspection is off."), core.At(field.Position))
			}
		})
	},
}

// validationRules makes a maker of fresh sets of rules: the executor changes the set that it is
// given, and the bound on errors is per document.
func validationRules(introspection bool) func() *rules.Rules {
	return func() *rules.Rules {
		set := rules.NewDefaultRules()
		for _, rule := range withoutSuggestions {
			set.RemoveRule(strings.TrimSuffix(rule.Name, "WithoutSuggestions"))
			set.AddRule(rule.Name, rule.RuleFunc)
		}
		if !introspection {
			set.AddRule(noIntrospection.Name, noIntrospection.RuleFunc)
		}
		found := 0
		for name, check := range set.GetInner() {
			set.ReplaceRule(name, func(observers *validator.Events, addError validator.AddErrFunc) {
				check(observers, func(options ...validator.ErrorOption) {
					if found++; found <= maxValidationErrors {
						addError(options...)
					}
				})
			})
		}
		return set
	}
}

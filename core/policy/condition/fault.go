package condition

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/env"

	"github.com/wardlet/wardlet/core/printable"
)

// faultAt returns an error at a place of an expression.
func faultAt(at common.Location, what string) error {
	place := fmt.Sprintf("column %d", at.Column()+1)
	if at.Line() > 1 {
		place = fmt.Sprintf("line %d, column %d", at.Line(), at.Column()+1)
	}
	return fmt.Errorf("%s: %s", place, printable.Short(what, maxFault))
}

// firstFault returns the first of the errors that CEL found in an expression.
func (l *language) firstFault(issues *cel.Issues) error {
	found := issues.Errors()
	if len(found) == 0 {
		return fmt.Errorf("%s", printable.Short(issues.Err().Error(), maxFault))
	}
	first := slices.MinFunc(found, func(a, b *common.Error) int {
		return cmp.Or(cmp.Compare(a.Location.Line(), b.Location.Line()), cmp.Compare(a.Location.Column(), b.Location.Column()))
	})
	if strings.HasPrefix(first.Message, "max recursion depth exceeded") ||
		strings.HasPrefix(first.Message, "expression recursion limit exceeded") {
		return fmt.Errorf("the condition is nested more than %d deep; split it into several conditions", maxDepth)
	}
	if first.Location.Line() < 1 {
		return fmt.Errorf("%s", printable.Short(first.Message, maxFault))
	}
	return faultAt(first.Location, l.explain(first.Message))
}

// explain rewrites an error message of CEL with the names that are known here.
func (l *language) explain(message string) string {
	if name, ok := quoted(message, "undefined field '"); ok {
		of := l.vocabulary.without(name)
		if of == nil {
			return "there is no field " + name
		}
		return fmt.Sprintf("%s has no field %s", of.celType.TypeName(), name) + meant(name, of.names())
	}
	if name, ok := quoted(message, "undeclared reference to '"); ok {
		return "there is no variable or function " + name + meant(name, l.names)
	}
	if name, ok := quoted(message, "found no matching overload for '"); ok {
		_, arguments, _ := strings.Cut(message, " applied to ")
		return fmt.Sprintf("%s cannot be applied to %s", strings.ReplaceAll(name, "_", ""), strings.Trim(arguments, "'"))
	}
	what, _, _ := strings.Cut(message, " expecting {") // a list of all tokens that would be valid
	return what
}

// quoted returns the text in quotes after prefix.
func quoted(message, prefix string) (string, bool) {
	rest, ok := strings.CutPrefix(message, prefix)
	if !ok {
		return "", false
	}
	name, _, ok := strings.Cut(rest, "'")
	return name, ok
}

// meant returns a question for the known word that is most similar to the unknown
// one.
func meant(unknown string, known []string) string {
	catalog := env.NewCatalog()
	for _, name := range known {
		catalog.Add(&env.CatalogSymbol{Name: name})
	}
	near := catalog.Find(unknown)
	if len(near) == 0 {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", near[0].Name)
}

package condition

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"

	"github.com/wardlet/wardlet/core/printable"
)

// Condition is a compiled expression. It may be used by several goroutines.
type Condition struct {
	expression string
	program    cel.Program
}

// String is the expression.
func (c *Condition) String() string { return c.expression }

// Compile reads an expression, checks its types and bounds, and makes it ready
// to be asked. An error is one line, says what is wrong, and where.
func Compile(expression string) (*Condition, error) {
	switch {
	case strings.TrimSpace(expression) == "":
		return nil, errors.New("the condition is empty; leave it out, or write an expression that is true or false")
	case len(expression) > MaxBytes:
		return nil, fmt.Errorf("the condition has %d bytes, %d are allowed; split it into several conditions", len(expression), MaxBytes)
	case !utf8.ValidString(expression):
		return nil, errors.New("the condition is not valid UTF-8")
	}
	l, err := theLanguage()
	if err != nil {
		return nil, err
	}
	l.compiling.Lock()
	defer l.compiling.Unlock()
	return l.compile(expression)
}

func (l *language) compile(expression string) (*Condition, error) {
	l.vocabulary.unknown = nil
	checked, issues := l.environment.Compile(expression)
	if issues != nil && issues.Err() != nil {
		return nil, l.firstFault(issues)
	}
	if t := checked.OutputType(); t.Kind() != types.BoolKind {
		return nil, fmt.Errorf("the condition gives %s; it must be true or false", cel.FormatCELType(t))
	}
	f, err := inspect(checked.NativeRep())
	if err != nil {
		return nil, err
	}
	if err := l.checkEstimate(checked); err != nil {
		return nil, err
	}
	program, err := l.plan(checked, f)
	if err != nil {
		return nil, fmt.Errorf("the condition cannot be used: %s", printable.Short(err.Error(), maxFault))
	}
	return &Condition{expression: expression, program: program}, nil
}

// plan makes the program of a checked expression.
func (l *language) plan(checked *cel.Ast, f *found) (cel.Program, error) {
	return l.environment.Program(checked,
		cel.EvalOptions(cel.OptOptimize),
		cel.CostLimit(MaxCost), cel.CostTrackerOptions(f.trackers()...),
		cel.CustomDecoratorV2(f.decorate))
}

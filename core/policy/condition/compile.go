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

// Condition is a compiled expression. It is safe for concurrent use.
type Condition struct {
	expression string
	program    cel.Program
}

// String returns the expression.
func (c *Condition) String() string { return c.expression }

// Compile parses an expression, checks its types and bounds, and prepares it for
// evaluation. An error is one line that says what is wrong, and where.
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
		return nil, fmt.Errorf("the condition returns %s; it must return true or false", cel.FormatCELType(t))
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

// MaxCost is the most that one evaluation of a condition may cost, in units of
// about 100 ns.
const MaxCost = 10_000

const (
	// MaxBytes is the longest text of an expression.
	MaxBytes = 4 << 10
	// maxDepth is how deeply the parts of an expression may be nested.
	maxDepth = 64
	// maxEstimate is the largest estimated cost of an expression. The estimate
	// assumes that every list and map has typicalEntries entries and every text
	// typicalText characters.
	maxEstimate    = 1_000_000
	typicalEntries = 64
	typicalText    = 256

	// maxText is the longest text of a pod that an expression can read, in bytes.
	maxText = 64 << 10
	// maxPattern is the longest text of a regular expression. maxProgram is the
	// most instructions to which it may compile.
	maxPattern = 256
	maxProgram = 256
	// maxQuantity is the longest text that the function quantity accepts.
	maxQuantity = 32

	// maxFault is the longest text of an error. maxShown is how much of the
	// expression an error shows.
	maxFault = 400
	maxShown = 120
)

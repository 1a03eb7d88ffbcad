package condition

import (
	"errors"
	"fmt"
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/interpreter"

	"github.com/wardlet/wardlet/core/printable"
)

// Matches reports whether the condition is true, and what it cost: from 1 to
// MaxCost, the same for the same input on every machine, also when it fails.
// An error is one line and names the condition.
func (c *Condition) Matches(in *Input) (matched bool, cost uint64, err error) {
	// What panics in here is an error of Eval, the count's end among it.
	value, details, err := c.program.Eval(in)
	cost = 1
	if actual := details.ActualCost(); actual != nil {
		cost = min(max(*actual, 1), MaxCost)
	}
	if err != nil {
		return false, cost, c.failure(err)
	}
	truth, ok := value.(types.Bool)
	if !ok {
		return false, cost, c.failure(fmt.Errorf("it gives %T instead of true or false", value))
	}
	return bool(truth), cost, nil
}

func (c *Condition) failure(err error) error {
	shown := printable.Short(c.expression, maxShown)
	var stopped interpreter.EvalCancelledError
	if errors.As(err, &stopped) && stopped.Cause == interpreter.CostLimitExceeded {
		return fmt.Errorf("the condition %s: it costs more than %d for this pod; simplify it, or let the policy look", shown, MaxCost)
	}
	what := err.Error()
	if strings.HasPrefix(what, "no such key: ") {
		what += "; ask with in whether it is there"
	}
	return fmt.Errorf("the condition %s: %s", shown, printable.Short(what, maxFault))
}

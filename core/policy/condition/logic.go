package condition

import (
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"
)

// logic is a boolean operation that always costs 1. Macros execute two of them for
// each element, and in CEL finding out their cost takes longer than executing them.
type logic struct {
	call interpreter.InterpretableCall
	of   interpreter.InterpretableV2
	do   func(ref.Val) ref.Val
}

// ID returns the ID of the operation's part of the expression.
func (l *logic) ID() int64 { return l.call.ID() }

// Exec executes the operation and counts it.
func (l *logic) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	value := l.of.Exec(frame)
	if costs := frame.CostTracker(); costs != nil {
		costs.Qualify(l.ID())
	}
	return l.do(value)
}

// Eval calls Exec without a frame.
func (l *logic) Eval(vars interpreter.Activation) ref.Val {
	return interpreter.EvalActivation(vars, l.Exec)
}

// logicOf returns a call as logic, nil for all other calls. Calls with a constant
// are left to CEL, which replaces them by constants.
func logicOf(call interpreter.InterpretableCall) *logic {
	var do func(ref.Val) ref.Val
	switch call.OverloadID() {
	case overloads.LogicalNot:
		do = negate
	case overloads.NotStrictlyFalse:
		do = notStrictlyFalse
	default:
		return nil
	}
	if of := call.Args()[0]; isVariable(of) {
		return &logic{call, of, do}
	}
	return nil
}

func negate(value ref.Val) ref.Val {
	if truth, ok := value.(types.Bool); ok {
		return !truth
	}
	return types.MaybeNoSuchOverloadErr(value) // an error remains unchanged
}

// notStrictlyFalse reports whether a macro continues. It also continues after an
// error, because the result of a later element may take precedence.
func notStrictlyFalse(value ref.Val) ref.Val { return types.Bool(value != types.False) }

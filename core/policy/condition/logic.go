package condition

import (
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"
)

// logic is an operation on a truth that always costs 1. Macros do two of them for
// each element, and CEL takes longer to find out what they cost than to do them.
type logic struct {
	call interpreter.InterpretableCall
	of   interpreter.InterpretableV2
	do   func(ref.Val) ref.Val
}

// ID is that of the part of the expression.
func (l *logic) ID() int64 { return l.call.ID() }

// Exec does the operation and counts it.
func (l *logic) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	value := l.of.Exec(frame)
	if costs := frame.CostTracker(); costs != nil {
		costs.Qualify(l.ID())
	}
	return l.do(value)
}

// Eval is Exec without a frame.
func (l *logic) Eval(vars interpreter.Activation) ref.Val {
	return interpreter.EvalActivation(vars, l.Exec)
}

// logicOf is a call that is logic, nil for all others. Of constants CEL makes
// constants.
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
	return types.MaybeNoSuchOverloadErr(value) // an error stays what it is
}

// notStrictlyFalse is whether a macro goes on: also after an error, which a later
// element may outweigh.
func notStrictlyFalse(value ref.Val) ref.Val { return types.Bool(value != types.False) }

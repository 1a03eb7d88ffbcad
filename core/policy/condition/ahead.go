package condition

import (
	"regexp"
	"slices"

	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"
)

// ahead is an operation whose cost is counted before it is executed, because one
// step of it may do much work; CEL counts afterwards. It does not implement
// InterpretableCall, because CEL would then replace it by its own search for
// patterns.
type ahead struct {
	call interpreter.InterpretableCall
	do   func(args []ref.Val) ref.Val
}

// ID returns the ID of the operation's part of the expression.
func (a *ahead) ID() int64 { return a.call.ID() }

// Exec executes the operation, unless the count stops the evaluation.
func (a *ahead) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	parts := a.call.Args()
	args := make([]ref.Val, len(parts))
	for i, part := range parts {
		args[i] = part.Exec(frame)
		if types.IsUnknownOrError(args[i]) {
			return args[i]
		}
	}
	if costs := frame.CostTracker(); costs != nil {
		costs.EvalVarArgs(frame, a.ID(), a.call, args, nil)
	}
	return a.do(args)
}

// Eval calls Exec without a frame.
func (a *ahead) Eval(vars interpreter.Activation) ref.Val {
	return interpreter.EvalActivation(vars, a.Exec)
}

// sortedKeys is a map over whose keys an expression iterates. It evaluates to the
// list of keys.
type sortedKeys struct {
	interpreter.InterpretableV2
}

// Exec counts the keys, then sorts and returns them.
func (k *sortedKeys) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	value := k.InterpretableV2.Exec(frame)
	m, ok := value.(*mapping)
	if !ok {
		return value
	}
	if costs := frame.CostTracker(); costs != nil {
		costs.EvalUnary(frame, k.ID(), k, value, nil)
	}
	return m.keys()
}

// Eval calls Exec without a frame.
func (k *sortedKeys) Eval(vars interpreter.Activation) ref.Val {
	return interpreter.EvalActivation(vars, k.Exec)
}

// Function returns the name of the operation.
func (*sortedKeys) Function() string { return overloadKeys }

// OverloadID returns the name of the operation.
func (*sortedKeys) OverloadID() string { return overloadKeys }

// decorate replaces the operations of a program whose cost must be counted ahead.
func (f *found) decorate(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	if f.maps[i.ID()] {
		if _, ok := i.(interpreter.InterpretableAttribute); ok {
			return &sortedKeys{i}, nil
		}
	}
	call, ok := i.(interpreter.InterpretableCall)
	if !ok {
		return i, nil
	}
	if l := logicOf(call); l != nil {
		return l, nil
	}
	if do := f.operation(call); do != nil {
		return &ahead{call: call, do: do}, nil
	}
	return i, nil
}

// operation returns a function that does the same as call, nil if its cost need not
// be counted ahead. Calls with only constants are left to CEL, which replaces them
// by constants.
func (f *found) operation(call interpreter.InterpretableCall) func([]ref.Val) ref.Val {
	switch call.OverloadID() {
	case overloads.Matches, overloads.MatchesString:
		return f.match(call)
	}
	if !slices.ContainsFunc(call.Args(), isVariable) {
		return nil
	}
	convert := func(to ref.Type) func([]ref.Val) ref.Val {
		return func(args []ref.Val) ref.Val { return args[0].ConvertToType(to) }
	}
	switch call.OverloadID() {
	case overloads.SizeString, overloads.SizeStringInst:
		return sizeOfText
	case overloads.StringToInt:
		return convert(types.IntType)
	case overloads.StringToDuration:
		return convert(types.DurationType)
	case overloads.StringToTimestamp:
		return convert(types.TimestampType)
	case overloads.InList:
		if isVariable(call.Args()[1]) {
			return searchList
		}
	}
	return nil // CEL makes a set of a constant list
}

func isVariable(i interpreter.InterpretableV2) bool {
	_, constant := i.(interpreter.InterpretableConst)
	return !constant
}

func sizeOfText(args []ref.Val) ref.Val {
	s, ok := args[0].(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(args[0])
	}
	return s.Size()
}

func searchList(args []ref.Val) ref.Val {
	l, ok := args[1].(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(args[1])
	}
	return listContains(l, args[0])
}

// match returns the search for a pattern, which is always a constant.
func (f *found) match(call interpreter.InterpretableCall) func([]ref.Val) ref.Val {
	var pattern *regexp.Regexp
	if constant, ok := call.Args()[1].(interpreter.InterpretableConst); ok {
		if s, ok := constant.Value().(types.String); ok {
			pattern = f.patterns[string(s)]
		}
	}
	return func(args []ref.Val) ref.Val {
		s, ok := args[0].(types.String)
		if !ok || pattern == nil {
			return types.MaybeNoSuchOverloadErr(args[0])
		}
		return types.Bool(pattern.MatchString(string(s)))
	}
}

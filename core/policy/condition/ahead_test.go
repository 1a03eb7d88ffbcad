package condition

import (
	"regexp"
	"testing"

	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"
)

// callOf returns a call of an operation with constant arguments.
func callOf(overload string, args ...ref.Val) interpreter.InterpretableCall {
	parts := make([]interpreter.InterpretableV2, 0, len(args))
	for i, arg := range args {
		parts = append(parts, interpreter.NewConstValue(int64(i), arg))
	}
	return interpreter.NewCall(100, overload, overload, parts, nil)
}

func TestTheCountEndsAnOperationBeforeItIsDone(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]uint64{"far less": 1, "one less": 3} {
		done := false
		a := &ahead{
			call: callOf(overloads.SizeString, types.String("0123456789012345678901234567890123456789")),
			do:   func([]ref.Val) ref.Val { done = true; return types.True },
		}
		if stopped := execute(t, a, limit); !stopped || done {
			t.Errorf("%s: stopped %t, done %t", name, stopped, done)
		}
		if stopped := execute(t, a, 5); stopped || !done {
			t.Errorf("enough: stopped %t, done %t", stopped, done)
		}
	}
}

// execute reports whether the cost limit stopped the evaluation.
func execute(t *testing.T, i interpreter.InterpretableV2, limit uint64) (stopped bool) {
	t.Helper()
	f := &found{called: map[string]bool{overloads.SizeString: true}}
	tracker, err := cost.NewTracker(nil, append(f.trackers(), cost.TrackerLimit(limit))...)
	must(t, err)
	frame, err := interpreter.NewExecutionFrame(interpreter.EmptyActivation())
	must(t, err)
	frame.SetCostTracker(tracker)
	defer frame.Close()
	defer func() {
		if r := recover(); r != nil {
			_, stopped = r.(cost.LimitExceededError)
		}
	}()
	i.Exec(frame)
	return false
}

// TestOperationsAreCountedAhead covers the operations that CEL counts as one step although
// they read a whole string or list.
func TestOperationsAreCountedAhead(t *testing.T) {
	t.Parallel()
	f := &found{}
	variable := interpreter.NewCall(1, "", "", nil, nil)
	constant := interpreter.NewConstValue(2, types.String("a"))
	is := func(overload string, args ...interpreter.InterpretableV2) bool {
		i, err := f.decorate(interpreter.NewCall(3, overload, overload, args, nil))
		must(t, err)
		_, ok := i.(*ahead)
		return ok
	}
	for _, overload := range []string{
		overloads.SizeString, overloads.SizeStringInst, overloads.StringToInt, overloads.StringToDuration, overloads.StringToTimestamp,
	} {
		if !is(overload, variable) {
			t.Errorf("%s of a variable is not", overload)
		}
		if is(overload, constant) {
			t.Errorf("%s of a constant is, and so no constant", overload)
		}
	}
	for _, overload := range []string{overloads.Matches, overloads.MatchesString} {
		if !is(overload, variable, constant) || !is(overload, constant, constant) {
			t.Errorf("%s is not", overload)
		}
	}
	if !is(overloads.InList, variable, variable) || !is(overloads.InList, constant, variable) {
		t.Error("in is not")
	}
	if is(overloads.InList, variable, constant) {
		t.Error("in with a constant list is, and so no set")
	}
	if is(overloads.LessInt64, variable, variable) {
		t.Error("< is")
	}
}

// TestAProgramSearchesOnlyForPatternsThatAreCountedAhead replaces the pattern: CEL itself
// would search first and count afterwards.
func TestAProgramSearchesOnlyForPatternsThatAreCountedAhead(t *testing.T) {
	t.Parallel()
	l, err := newLanguage()
	must(t, err)
	for _, expression := range []string{
		"object.metadata.name.matches('web')", "matches(object.metadata.name, 'web')", "'web'.matches('web')",
	} {
		checked, issues := l.environment.Compile(expression)
		must(t, issues.Err())
		f, err := inspect(checked.NativeRep())
		must(t, err)
		f.patterns["web"] = regexp.MustCompile("never") // CEL's own search does not use this pattern
		program, err := l.plan(checked, f)
		must(t, err)
		if got, _, err := program.Eval(NewInput(webRequest())); err != nil || got != types.False {
			t.Errorf("%s: %v, %v: the search is not ours", expression, got, err)
		}
	}
}

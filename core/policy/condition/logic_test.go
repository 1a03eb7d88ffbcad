package condition

import (
	"testing"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/interpreter"
)

// asCEL returns a condition with CEL's own logic operators.
func asCEL(t *testing.T, expression string) *Condition {
	t.Helper()
	l, err := newLanguage()
	must(t, err)
	checked, issues := l.environment.Compile(expression)
	must(t, issues.Err())
	f, err := inspect(checked.NativeRep())
	must(t, err)
	program, err := l.environment.Program(checked, cel.EvalOptions(cel.OptOptimize),
		cel.CostLimit(MaxCost), cel.CostTrackerOptions(f.trackers()...),
		cel.CustomDecoratorV2(func(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
			if call, ok := i.(interpreter.InterpretableCall); ok && logicOf(call) != nil {
				return i, nil
			}
			return f.decorate(i)
		}))
	must(t, err)
	return &Condition{expression: expression, program: program}
}

func TestLogicAnswersAndCostsWhatItDoesInCEL(t *testing.T) {
	t.Parallel()
	in := NewInput(webRequest())
	for _, expression := range []string{
		"object.spec.containers.exists(c, c.image.startsWith('elsewhere.example/'))",
		"object.spec.containers.exists(c, c.image.contains('web'))",
		"object.spec.containers.all(c, c.image.contains('/'))",
		"object.spec.containers.all(c, c.image == 'none')",
		"object.spec.containers.exists_one(c, c.image.contains('web'))",
		"object.metadata.labels.exists(k, k.startsWith('x'))",
		"!object.spec.hostNetwork",
		"!(object.metadata.labels['none'] == 'a')",
		"!object.spec.containers.exists(c, object.metadata.labels['none'] == c.name)",
		"object.spec.containers.exists(c, object.metadata.labels[c.name] == 'a' || true)",
		"object.spec.containers.all(c, object.metadata.labels[c.name] == 'a' && false)",
		"object.spec.containers.exists(c, int(c.name) == 1)",
		"object.spec.containers.exists(c, c.securityContext == null)",
		"object.spec.containers.exists(c, c.securityContext.capabilities.add.exists(a, a == 'SYS_ADMIN'))",
		"containers(object.spec).exists(c, c.name == 'none')",
	} {
		ours, err := Compile(expression)
		must(t, err)
		got, cost, fault := ours.Matches(in)
		want, wantCost, wantFault := asCEL(t, expression).Matches(in)
		if got != want || cost != wantCost || (fault == nil) != (wantFault == nil) || fault != nil && fault.Error() != wantFault.Error() {
			t.Errorf("%s: %t for %d, %v; CEL's own gives %t for %d, %v", expression, got, cost, fault, want, wantCost, wantFault)
		}
	}
}

func TestLogicOfConstantsIsLeftToCEL(t *testing.T) {
	t.Parallel()
	variable := interpreter.NewCall(1, "", "", nil, nil)
	call := func(function, overload string, of interpreter.InterpretableV2) interpreter.InterpretableCall {
		return interpreter.NewCall(3, function, overload, []interpreter.InterpretableV2{of}, nil)
	}
	if logicOf(call(operators.LogicalNot, overloads.LogicalNot, variable)) == nil {
		t.Error("a negation is not ours")
	}
	if logicOf(call(operators.LogicalNot, overloads.LogicalNot, interpreter.NewConstValue(2, types.True))) != nil {
		t.Error("a negated constant is ours, and so no constant")
	}
}

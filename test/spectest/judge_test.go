package spectest

import "testing"

func TestCommandsAreSatisfiedByWhatTheyAskFor(t *testing.T) {
	t.Parallel()
	one := []constant{{kind: "i32", lanes: []lane{{bits: 1}}}}
	const fine, fault = "", "fault"
	for _, x := range []struct {
		name    string
		command command
		outcome Outcome
		// want is fine, fault, or a deviation.
		want string
	}{
		{"a module is made", command{Type: "module"}, Outcome{Text: "instantiated"}, fine},
		{"a module is refused", command{Type: "module"}, Outcome{Text: "refused: compile", refused: stageCompile}, fault},
		{"a module is not registered", command{Type: "register"}, Outcome{Text: "not registered"}, fault},
		{"an action gives something", command{Type: "action"}, Outcome{Text: "i32:0x00000001"}, fine},
		{"an action gives nothing", command{Type: "action"}, Outcome{Text: "returned"}, fine},
		{"an action traps", command{Type: "action"}, Outcome{Text: "trap: unreachable"}, fault},
		{"an action is exhausted", command{Type: "action"}, Outcome{Text: exhausted}, fault},
		{"an action has no instance", command{Type: "action"}, Outcome{Text: "no instance: its module was refused or is unknown"}, fault},
		{"the right result", command{Type: "assert_return", Expected: one}, Outcome{Text: "i32:0x00000001"}, fine},
		{"the wrong result", command{Type: "assert_return", Expected: one}, Outcome{Text: "i32:0x00000002"}, fault},
		{"a result of the wrong type", command{Type: "assert_return", Expected: one}, Outcome{Text: "f32:0x00000001"}, fault},
		{"one result too many", command{Type: "assert_return", Expected: one}, Outcome{Text: "i32:0x00000001 i32:0x00000002"}, fault},
		{"no result", command{Type: "assert_return", Expected: one}, Outcome{Text: "returned"}, fault},
		{"no result is right", command{Type: "assert_return"}, Outcome{Text: "returned"}, fine},
		{"the right trap", command{Type: "assert_trap", Text: "undefined element"}, Outcome{Text: "trap: invalid table access"}, fine},
		{"the wrong trap", command{Type: "assert_trap", Text: "undefined element"}, Outcome{Text: "trap: unreachable"}, fault},
		{"a trap for the end of the stack", command{Type: "assert_exhaustion"}, Outcome{Text: "trap: unreachable"}, fault},
		{"the end of the stack for a trap", command{Type: "assert_trap", Text: "unreachable"}, Outcome{Text: exhausted}, fault},
		{"invalid for the compiler", command{Type: "assert_invalid", Format: "binary"}, Outcome{Text: "refused: compile", refused: stageCompile}, fine},
		{"invalid for the transform", command{Type: "assert_malformed", Format: "binary"}, Outcome{Text: "refused: transform", refused: stageTransform}, fine},
		{"invalid and made", command{Type: "assert_invalid", Format: "binary"}, Outcome{Text: "instantiated"}, fault},
		{"invalid and compiled", command{Type: "assert_invalid", Format: "binary"}, Outcome{Text: "refused: link: import x", Detail: "import x", refused: stageLink}, fault},
		{"invalid and without imports", command{Type: "assert_invalid", Format: "binary"}, Outcome{Text: "refused: link: module[x] not instantiated", Detail: "module[x] not instantiated", refused: stageLink}, unseen},
		{"text", command{Type: "assert_malformed", Format: "text"}, Outcome{Text: notRun}, fine},
		{"unlinkable", command{Type: "assert_unlinkable", Text: "unknown import"}, Outcome{Text: "refused: link: import x", refused: stageLink}, fine},
		{"unlinkable and made", command{Type: "assert_unlinkable", Text: "unknown import"}, Outcome{Text: "instantiated"}, fault},
		{"unlinkable and not compiled", command{Type: "assert_unlinkable", Text: "unknown import"}, Outcome{Text: "refused: compile", refused: stageCompile}, fault},
		{"data does not fit", command{Type: "assert_unlinkable", Text: "data segment does not fit"}, Outcome{Text: "refused: segment: data", refused: stageSegment}, fine},
		{"elements do not fit", command{Type: "assert_unlinkable", Text: "elements segment does not fit"}, Outcome{Text: "refused: segment: elements", refused: stageSegment}, fine},
		{"elements do not fit, early", command{Type: "assert_unlinkable", Text: "elements segment does not fit"}, Outcome{Text: "refused: compile", Detail: "element[0].init exceeds min table size", refused: stageCompile}, early},
		{"elements do not compile", command{Type: "assert_unlinkable", Text: "elements segment does not fit"}, Outcome{Text: "refused: compile", Detail: "invalid", refused: stageCompile}, fault},
		{"data out of bounds", command{Type: "assert_uninstantiable", Text: "out of bounds memory access"}, Outcome{Text: "refused: segment: data"}, fine},
		{"data out of bounds and made", command{Type: "assert_uninstantiable", Text: "out of bounds memory access"}, Outcome{Text: "instantiated"}, fault},
		{"elements out of bounds and made", command{Type: "assert_uninstantiable", Text: "out of bounds table access"}, Outcome{Text: "instantiated"}, unfilled},
		{"elements out of bounds", command{Type: "assert_uninstantiable", Text: "out of bounds table access"}, Outcome{Text: "refused: segment: elements"}, fine},
		{"a start function traps", command{Type: "assert_uninstantiable", Text: "unreachable"}, Outcome{Text: "refused: start: trap: unreachable"}, fine},
		{"a start function does not trap", command{Type: "assert_uninstantiable", Text: "unreachable"}, Outcome{Text: "instantiated"}, fault},
	} {
		o := x.outcome
		judge(&x.command, &o)
		if got := o.Fault != ""; got != (x.want == fault) {
			t.Errorf("%s: fault %q, want one: %v", x.name, o.Fault, x.want == fault)
		}
		if x.want != fault && o.Deviation != x.want {
			t.Errorf("%s: deviation %q, want %q", x.name, o.Deviation, x.want)
		}
	}
}

package spectest

import (
	"errors"
	"fmt"
	"testing"
)

func TestErrorsOfCallsAreShownByTheirKind(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"wasm error: integer overflow\nwasm stack trace:\n\t.f()":                      "trap: integer overflow",
		"start function[0] failed: wasm error: unreachable\nwasm stack trace:\n\t.f()": "trap: unreachable",
		"wasm error: stack overflow\nwasm stack trace:\n\t.f()":                        exhausted,
		"stack overflow": exhausted,
		"StackLimit: 1024 deep (recovered by wazero)\nwasm stack": exhausted,
		"FuelExhausted: after 5 (recovered by wazero)\nwasm":      "fault: FuelExhausted: after 5 (recovered by wazero)",
		"module closed with exit_code(1)":                         "fault: module closed with exit_code(1)",
		"a function was told of a stack overflow":                 "fault: a function was told of a stack overflow",
		"runtime error: index out of range (recovered by wazero)": "fault: runtime error: index out of range (recovered by wazero)",
	} {
		if got := failure(errors.New(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestTrapsOfTheScriptsAreKnown(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"uninitialized element 7":     "trap: invalid table access",
		"uninitialized":               "trap: invalid table access",
		"indirect call":               "trap: indirect call type mismatch",
		"out of bounds memory access": "trap: out of bounds memory access",
		"out of bounds":               "",
		"":                            "",
		"7":                           "",
	} {
		if got := trapOf(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestModulesAreRefusedAtAStage(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"wasm error: unreachable\nwasm":    "refused: start: trap: unreachable",
		"stack overflow":                   "refused: start: exhausted",
		"StackLimit (recovered by wazero)": "refused: start: exhausted",
	} {
		if got := instantiation(fmt.Errorf("start function[2] failed: %w", errors.New(text))).text(); got != want {
			t.Errorf("%q in a start function: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"start function[2] failed: something":                          "refused: start: fault: start function[2] failed: something",
		"data[1]: out of bounds memory access":                         "refused: segment: data",
		"element[0].init exceeds min table size":                       "refused: segment: elements",
		"import func[test.f]: signature mismatch: i32_v != v_v":        "refused: link: import func[test.f]: signature mismatch: i32_v != v_v",
		`"unknown" is not exported in module "test"`:                   `refused: link: "unknown" is not exported in module "test"`,
		`export "f" in module "test" is a func, not a global`:          `refused: link: export "f" in module "test" is a func, not a global`,
		"module[test] not instantiated":                                "refused: link: module[test] not instantiated",
		"module[test] has already been instantiated":                   "refused: instantiate: module[test] has already been instantiated",
		"data[0] failed to evaluate offset expression: something else": "refused: instantiate: data[0] failed to evaluate offset expression: something else",
	} {
		if got := instantiation(errors.New(text)).text(); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

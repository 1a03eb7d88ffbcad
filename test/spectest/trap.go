package spectest

import "strings"

// exhausted is the canonical text if the stack is exhausted: wazero's, or the meter's budget.
const exhausted = "exhausted"

// failure returns the canonical text of an error that a call returned.
func failure(err error) string {
	text := err.Error()
	first, _, _ := strings.Cut(text, "\n")
	_, kind, trap := strings.Cut(first, "wasm error: ")
	switch {
	case strings.Contains(text, "StackLimit"), kind == "stack overflow", first == "stack overflow": // the compiler's
		return exhausted
	case trap:
		return "trap: " + kind
	}
	return "fault: " + first
}

// traps maps wazero's words to the traps of the specification. If an element is missing, wazero
// does not say whether the table is too short or the element is null.
var traps = map[string]string{
	"out of bounds memory access":   "out of bounds memory access",
	"indirect call type mismatch":   "indirect call type mismatch",
	"indirect call":                 "indirect call type mismatch",
	"undefined element":             "invalid table access",
	"undefined":                     "invalid table access",
	"uninitialized":                 "invalid table access",
	"uninitialized element":         "invalid table access",
	"out of bounds table access":    "invalid table access",
	"integer overflow":              "integer overflow",
	"integer divide by zero":        "integer divide by zero",
	"invalid conversion to integer": "invalid conversion to integer",
	"unreachable":                   "unreachable",
}

// trapOf returns the canonical text of a trap that a script expects, empty if the trap is unknown.
// Some scripts append the number of the element.
func trapOf(text string) string {
	if kind := traps[strings.TrimRight(text, " 0123456789")]; kind != "" {
		return "trap: " + kind
	}
	return ""
}

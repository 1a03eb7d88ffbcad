package spectest

import (
	"fmt"
	"slices"
	"strings"
)

// The deviations of wazero v1.12.0 from the specification. Its own tests also accept them.
const (
	// unfilled: by the specification, the instantiation must fail.
	unfilled = "wazero makes an instance whose elements do not fit, without them"
	// unseen: the module is invalid, but it was refused for another reason.
	unseen = "wazero compiles a module that is not valid, which then fails for want of its imports"
	// early: the module is valid.
	early = "wazero refuses a module whose elements do not fit when it compiles it"
)

// judge sets whether an outcome is what the command requires.
func judge(c *command, o *Outcome) {
	if c.Format == "text" {
		return
	}
	want, ok, deviation := satisfied(c, o)
	switch {
	case ok:
	case deviation != "":
		o.Deviation = deviation
	default:
		o.Fault = fmt.Sprintf("want %s, got %s", want, o.Text)
	}
}

// satisfied returns what a command requires, whether the outcome is that, and, if it is not, which
// deviation it is.
func satisfied(c *command, o *Outcome) (want string, ok bool, deviation string) {
	switch c.Type {
	case "module":
		want = "instantiated"
	case "register":
		want = "registered"
	case "action":
		return "any result", called(o.Text), ""
	case "assert_return":
		want = returned(c)
	case "assert_exhaustion":
		want = exhausted
	case "assert_trap":
		want = trapOf(c.Text)
	case "assert_unlinkable":
		return unlinkable(c, o)
	case "assert_uninstantiable":
		return uninstantiable(c, o)
	case "assert_invalid", "assert_malformed":
		if o.refused == stageLink && unmet(o.Detail) {
			deviation = unseen
		}
		return "refused by transform or compiler", o.refused == stageTransform || o.refused == stageCompile, deviation
	}
	return want, o.Text == want, ""
}

// unlinkable checks a module whose imports do not fit. In version 1 of the specification that
// includes segments.
func unlinkable(c *command, o *Outcome) (want string, ok bool, deviation string) {
	switch c.Text {
	case "data segment does not fit":
		want = "refused: segment: data"
	case "elements segment does not fit":
		if o.refused == stageCompile && misfit(o.Detail) {
			deviation = early
		}
		want = "refused: segment: elements"
	default:
		return "refused: link", o.refused == stageLink, ""
	}
	return want, o.Text == want, deviation
}

// uninstantiable checks a module that traps while it is instantiated.
func uninstantiable(c *command, o *Outcome) (want string, ok bool, deviation string) {
	switch c.Text {
	case "out of bounds memory access":
		want = "refused: segment: data"
	case "out of bounds table access":
		if o.Text == "instantiated" {
			deviation = unfilled
		}
		want = "refused: segment: elements"
	default:
		want = "refused: start: " + trapOf(c.Text)
	}
	return want, o.Text == want, deviation
}

// returned is the text of a function's results that the script expects.
func returned(c *command) string {
	if len(c.Expected) == 0 {
		return "returned"
	}
	texts := make([]string, len(c.Expected))
	for i := range c.Expected {
		texts[i] = c.Expected[i].text()
	}
	return strings.Join(texts, " ")
}

// called reports whether a text is that of a call that returned.
func called(text string) bool {
	kind, _, _ := strings.Cut(text, ":")
	_, number := widths[kind]
	return number || slices.Contains([]string{"returned", "v128", "funcref", "externref"}, kind)
}

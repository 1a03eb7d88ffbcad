package spectest

import (
	"fmt"
	"slices"
	"strings"
)

// What wazero v1.12.0 does other than the specification asks for. Its own tests
// let it pass, too.
const (
	// unfilled: the specification has the instantiation fail.
	unfilled = "wazero makes an instance whose elements do not fit, without them"
	// unseen: the module is not valid, and it was refused for another reason.
	unseen = "wazero compiles a module that is not valid, which then fails for want of its imports"
	// early: the module is valid.
	early = "wazero refuses a module whose elements do not fit when it compiles it"
)

// judge says whether an outcome is what the command asks for.
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

// satisfied says what a command asks for and whether the outcome is that, or
// else, which deviation it is.
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

// unlinkable is what a module must come to whose imports do not fit. In version
// 1 of the specification that includes segments.
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

// uninstantiable is what a module must come to that traps while it is made.
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

// returned is the text of a function's results as the script wants them.
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

// called says whether a text is the one of a call that came back.
func called(text string) bool {
	kind, _, _ := strings.Cut(text, ":")
	_, number := widths[kind]
	return number || slices.Contains([]string{"returned", "v128", "funcref", "externref"}, kind)
}

package spectest

import (
	"fmt"
	"strings"
)

// Outcome is what one command of a script gave.
type Outcome struct {
	// File and Line are the script's and the line of its source; Index is the
	// command's number in the script.
	File        string
	Line, Index int
	// Type is the command's.
	Type string
	// Text is what happened, in words that are equal in every run that does the
	// same.
	Text string
	// Detail is more for people: errors as they came. It is not compared.
	Detail string
	// Fault is why the command is not satisfied; empty, if it is.
	Fault string
	// Deviation is set where wazero is known to do other than the specification
	// asks for, and the command counts as satisfied.
	Deviation string
	// refused is how far a module came; empty where the command has none, or
	// it was made.
	refused stage
}

func (o *Outcome) String() string {
	text := fmt.Sprintf("%s:%d (%d) %s: %s", o.File, o.Line, o.Index, o.Type, o.Text)
	if first, _, _ := strings.Cut(o.Detail, "\n"); first != "" {
		text += " [" + first + "]"
	}
	return text
}

// State is what an instance was like after the last command of its script.
type State struct {
	File string
	// Line is the one of the command that made it.
	Line int
	// Memory is the size and the SHA-256 of its memory, own or imported.
	Memory string
	// Globals are its globals by index, imported ones first.
	Globals []string
}

// Result is what a run gave.
type Result struct {
	// Modules counts the commands "module", Assertions all assert_ commands.
	Modules, Assertions int
	// Text is how many of Assertions are of modules in the text format, which
	// are not run.
	Text     int
	Outcomes []Outcome
	States   []State
	// Halves names the globals of type v128 in States: only their lower halves
	// can be read.
	Halves []string
}

func (r *Result) add(o *Result) {
	r.Modules += o.Modules
	r.Assertions += o.Assertions
	r.Text += o.Text
	r.Outcomes = append(r.Outcomes, o.Outcomes...)
	r.States = append(r.States, o.States...)
	r.Halves = append(r.Halves, o.Halves...)
}

// Faults are the outcomes that are not what the script asks for.
func (r *Result) Faults() []Outcome {
	return r.where(func(o *Outcome) bool { return o.Fault != "" })
}

// Deviations are the outcomes where wazero is known to do something else.
func (r *Result) Deviations() []Outcome {
	return r.where(func(o *Outcome) bool { return o.Deviation != "" })
}

// Refused are the modules that the specification has run, and the transform
// refused.
func (r *Result) Refused() []Outcome {
	return r.where(func(o *Outcome) bool {
		return o.refused == stageTransform && o.Type != "assert_invalid" && o.Type != "assert_malformed"
	})
}

func (r *Result) where(match func(*Outcome) bool) (found []Outcome) {
	for i := range r.Outcomes {
		if match(&r.Outcomes[i]) {
			found = append(found, r.Outcomes[i])
		}
	}
	return found
}

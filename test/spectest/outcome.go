package spectest

import (
	"fmt"
	"strings"
)

// Outcome is the outcome of one command of a script.
type Outcome struct {
	// File is the script, Line is the line in its source, and Index is the number of the command in
	// the script.
	File        string
	Line, Index int
	// Type is the type of the command.
	Type string
	// Text describes what happened, in words that are the same in every run with the same
	// behaviour.
	Text string
	// Detail has more for people: the errors as returned. It is not compared.
	Detail string
	// Fault is the reason why the command is not satisfied, empty if it is.
	Fault string
	// Deviation is set if wazero is known to deviate from the specification here; the command then
	// counts as satisfied.
	Deviation string
	// refused is the stage at which a module was refused; empty if the command has no module, or if
	// the module was instantiated.
	refused stage
}

func (o *Outcome) String() string {
	text := fmt.Sprintf("%s:%d (%d) %s: %s", o.File, o.Line, o.Index, o.Type, o.Text)
	if first, _, _ := strings.Cut(o.Detail, "\n"); first != "" {
		text += " [" + first + "]"
	}
	return text
}

// State is the state of an instance after the last command of its script.
type State struct {
	File string
	// Line is the line of the command that made the instance.
	Line int
	// Memory is the size and the SHA-256 of its memory, own or imported.
	Memory string
	// Globals are its globals by index, imported ones first.
	Globals []string
}

// Result is the result of a run.
type Result struct {
	// Modules counts the commands "module", Assertions all assert_ commands.
	Modules, Assertions int
	// Text is how many of Assertions are of modules in the text format, which are not run.
	Text     int
	Outcomes []Outcome
	States   []State
	// Halves names the globals of type v128 in States, of which only the lower halves can be read.
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

// Faults returns the outcomes that are not what the script requires.
func (r *Result) Faults() []Outcome {
	return r.where(func(o *Outcome) bool { return o.Fault != "" })
}

// Deviations returns the outcomes in which wazero is known to deviate.
func (r *Result) Deviations() []Outcome {
	return r.where(func(o *Outcome) bool { return o.Deviation != "" })
}

// Refused returns the modules that are valid by the specification but that the transform refused.
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

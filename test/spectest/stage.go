package spectest

import (
	"errors"
	"strings"
)

// stage is the stage at which a module was refused.
type stage string

const (
	stageTransform stage = "transform"
	stageCompile   stage = "compile"
	// stageLink is an import that is missing or does not fit.
	stageLink stage = "link"
	// stageSegment is data or elements that do not fit into a memory or table.
	stageSegment stage = "segment"
	stageStart   stage = "start"
	// stageUnknown is none of these. No command requires it.
	stageUnknown stage = "instantiate"
)

// refusal is the reason why a module was not instantiated.
type refusal struct {
	stage stage
	err   error
}

// instantiation classifies an error of wazero's InstantiateModule. Errors other than traps have no
// types, so it compares their text.
func instantiation(err error) *refusal {
	text := err.Error()
	r := &refusal{stageUnknown, err}
	switch {
	case strings.HasPrefix(text, "start "):
		r.stage = stageStart
	case strings.HasPrefix(text, "data[") && strings.HasSuffix(text, "out of bounds memory access"), misfit(text):
		r.stage = stageSegment
	case strings.HasPrefix(text, "import "), strings.HasPrefix(text, "export "), strings.Contains(text, `" is not exported in module "`), unmet(text):
		r.stage = stageLink
	}
	return r
}

// misfit reports whether an error of wazero says that elements do not fit into a table. If
// everything is known at compile time, wazero already returns it then.
func misfit(text string) bool {
	return strings.HasPrefix(text, "element[") && strings.HasSuffix(text, "exceeds min table size")
}

// unmet reports whether an error of wazero says that the module from which another imports does not
// exist.
func unmet(text string) bool {
	return strings.HasPrefix(text, "module[") && strings.HasSuffix(text, "] not instantiated")
}

// text returns the canonical text. It omits the messages of compilers and transforms, because they
// name positions, which a transform changes.
func (r *refusal) text() string {
	text := "refused: " + string(r.stage)
	switch detail := r.err.Error(); r.stage {
	case stageSegment:
		if misfit(detail) {
			return text + ": elements"
		}
		return text + ": data"
	case stageStart:
		inner := errors.Unwrap(r.err) // without the words about the start function
		if inner == nil {
			inner = r.err
		}
		return text + ": " + failure(inner)
	case stageLink, stageUnknown:
		return text + ": " + detail
	}
	return text
}

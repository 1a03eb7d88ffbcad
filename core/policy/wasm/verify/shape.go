package verify

import (
	"context"
	"fmt"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
)

// Shape describes a module's code.
type Shape struct {
	// Functions is the number of functions that are not imported. Loops is that of
	// all loops in them.
	Functions, Loops int
	// CodeBytes is the length of the code section. LargestBody is that of the
	// largest function.
	CodeBytes, LargestBody int
	// DeepestNesting, MostLocals (with parameters), HighestStack (in operands) and
	// LargestProduct (blocks and branches times locals) are maxima over all
	// functions.
	DeepestNesting, MostLocals, HighestStack, LargestProduct int
	// Floats and Vectors report whether the code has such instructions.
	Floats, Vectors bool
}

// verifier collects the reasons to refuse a module.
type verifier struct {
	m     *module.Module
	caps  *Caps
	shape Shape
	// reading is reused for each function.
	reading module.Code
	// refused are the reasons, at most maxRefused.
	refused []*module.Fault
}

// maxRefused is the most reasons that are reported for a module.
const maxRefused = 20

// Check checks a module's shape. A module without reasons to refuse it may be
// compiled. Check stops between two functions when ctx is done; its results are
// then not valid.
func Check(ctx context.Context, m *module.Module, caps Caps) (Shape, []*module.Fault) {
	v := &verifier{m: m, caps: &caps}
	v.sections()
	v.types()
	v.state()
	v.memory()
	v.code(ctx)
	return v.shape, v.refused
}

// full reports whether there are enough reasons to stop the search.
func (v *verifier) full() bool { return len(v.refused) >= maxRefused }

func (v *verifier) refuse(section byte, index, offset int, format string, args ...any) {
	if v.full() {
		return
	}
	s := module.Section{ID: section}
	v.refused = append(v.refused, &module.Fault{
		Section: s.Name(), Index: index, Offset: offset, What: fmt.Sprintf(format, args...),
	})
}

func (v *verifier) sections() {
	if v.m.Size > v.caps.Module {
		v.refused = append(v.refused, &module.Fault{
			Index: -1, Offset: v.caps.Module, What: fmt.Sprintf("the module has %d bytes: at most %d are supported", v.m.Size, v.caps.Module),
		})
	}
	for i := range v.m.Sections {
		s := &v.m.Sections[i]
		switch s.ID {
		case module.SectionStart:
			v.refuse(s.ID, -1, s.Offset, "the module has a start function: it would run before the sandbox is ready; "+
				"export the function as _initialize instead")
		case module.SectionCode:
			if v.shape.CodeBytes = len(s.Payload); v.shape.CodeBytes > v.caps.Code {
				v.refuse(s.ID, -1, s.Offset, "%d bytes of code: at most %d are supported", v.shape.CodeBytes, v.caps.Code)
			}
		}
	}
}

func (v *verifier) types() {
	offset := 0
	for i := range v.m.Sections {
		if v.m.Sections[i].ID == module.SectionType {
			offset = v.m.Sections[i].Offset
		}
	}
	for i := range v.m.Types {
		if n := len(v.m.Types[i].Params) + len(v.m.Types[i].Results); n > v.caps.Arity {
			v.refuse(module.SectionType, i, offset, "%d parameters and results: at most %d are supported", n, v.caps.Arity)
		}
	}
}

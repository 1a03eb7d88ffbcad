package verify

import (
	"context"
	"errors"
	"strings"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
)

// meteredLocals is how many local variables metering adds to a function.
const meteredLocals = 3

// code checks every function.
func (v *verifier) code(ctx context.Context) {
	all := uint64(0)
	for i := range v.m.Bodies {
		if ctx.Err() != nil {
			return
		}
		b := &v.m.Bodies[i]
		v.shape.Functions++
		v.body(i, b)
		if all += b.Count; all > uint64(v.caps.AllLocals) {
			v.refuse(module.SectionCode, v.m.ImportedFunctions+i, b.Offset,
				"functions with %d local variables together: at most %d are supported", all, v.caps.AllLocals)
			return
		}
		if v.full() {
			return
		}
	}
}

// body checks a function.
func (v *verifier) body(i int, b *module.Body) {
	index := v.m.ImportedFunctions + i
	refuse := func(offset int, format string, args ...any) {
		v.refuse(module.SectionCode, index, offset, format, args...)
	}
	if b.Size > v.caps.Body {
		refuse(b.Offset, "%d bytes of code: at most %d are supported in a function", b.Size, v.caps.Body)
		return
	}
	if b.Count > uint64(v.caps.Locals) {
		refuse(b.Offset, "%d local variables: at most %d are supported in a function", b.Count, v.caps.Locals)
		return
	}
	locals := int(b.Count) + len(v.m.Type(uint32(index)).Params)
	nesting := v.caps.Nesting
	if locals > v.caps.ManyLocals {
		nesting = v.caps.NestingLocals
	}
	code := &v.reading
	code.Reset(v.m, i)
	var in module.Instruction
	deepest, edges, loops, refused := 0, 0, 0, len(v.refused)
	for len(v.refused) == refused && code.Next(&in) {
		v.instruction(&in, refuse)
		switch in.Op {
		case module.OpBlock, module.OpLoop, module.OpIf:
			if in.Op == module.OpLoop {
				v.shape.Loops++
				loops++
			}
			if deepest = max(deepest, code.Depth()-1); deepest > nesting {
				refuse(in.Offset, "blocks %d deep: at most %d are supported in a function with %d local variables", deepest, nesting, locals)
			} else if loops > v.caps.Loops {
				refuse(in.Offset, "%d loops: at most %d are supported in a function", loops, v.caps.Loops)
			}
		}
		switch in.Op {
		case module.OpBlock, module.OpLoop, module.OpIf, module.OpBr, module.OpBrIf:
			edges++
		case module.OpBrTable:
			edges += len(in.Labels)
		}
		if edges*(locals+meteredLocals) > v.caps.Product {
			refuse(in.Offset, "%d blocks and branches, and %d local variables: with %d more for metering their product may be at most %d",
				edges, locals, meteredLocals, v.caps.Product)
		}
		if high := code.Highest(); high > v.caps.Operands {
			refuse(in.Offset, "%d operands on the stack: at most %d are supported", high, v.caps.Operands)
		}
	}
	if fault, ok := errors.AsType[*module.Fault](code.Err()); ok {
		v.refused = append(v.refused, fault)
	}
	s := &v.shape
	s.LargestBody, s.MostLocals = max(s.LargestBody, b.Size), max(s.MostLocals, locals)
	s.DeepestNesting, s.HighestStack = max(s.DeepestNesting, deepest), max(s.HighestStack, code.Highest())
	s.LargestProduct = max(s.LargestProduct, edges*(locals+meteredLocals))
}

// instruction refuses instructions that change state which a reset does not
// restore.
func (v *verifier) instruction(in *module.Instruction, refuse func(int, string, ...any)) {
	switch in.Op {
	case module.OpTableSet, module.OpTableGrow, module.OpTableFill, module.OpTableCopy, module.OpTableInit:
		refuse(in.Offset, "%s: tables that change could not be put back after a call", in.Op)
	case module.OpDataDrop, module.OpElemDrop:
		refuse(in.Offset, "%s: a segment that is gone could not be put back after a call", in.Op)
	case module.OpRefFunc:
		refuse(in.Offset, "%s: what the engine keeps for each could not be given back after a call; use call_indirect", in.Op)
	case module.OpBrTable:
		if n := len(in.Labels); n > v.caps.Labels {
			refuse(in.Offset, "br_table with %d labels: at most %d are supported", n, v.caps.Labels)
		}
	}
	switch kind, _, _ := strings.Cut(in.Info.Name, "."); kind {
	case "f32", "f64":
		v.shape.Floats = true
	case "v128", "i8x16", "i16x8", "i32x4", "i64x2", "f32x4", "f64x2":
		v.shape.Vectors = true
	}
	if in.Info.Class == module.Float { // conversions from float to integer
		v.shape.Floats = true
	}
}

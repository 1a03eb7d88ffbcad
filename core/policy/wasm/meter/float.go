package meter

import (
	"bytes"
	"encoding/binary"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
)

// These are the NaNs that replace all others, in one lane and in all lanes of a
// vector.
var (
	nan32   = binary.LittleEndian.AppendUint32(nil, 0x7fc00000)
	nan64   = binary.LittleEndian.AppendUint64(nil, 0x7ff8000000000000)
	lanes32 = bytes.Repeat(nan32, 4)
	lanes64 = bytes.Repeat(nan64, 2)
)

// makeCanonical appends code that replaces the number on the stack by the canonical
// NaN, if it is a NaN.
func (r *rewriting) makeCanonical(info *module.Info) {
	kind := 0
	switch {
	case info.NaN == module.F64:
		kind = 1
	case info.Lanes == module.F32:
		kind = 2
	case info.Lanes == module.F64:
		kind = 3
	}
	if r.canonical[kind] == nil {
		r.canonical[kind] = r.canonicalOf(info)
	}
	r.out = append(r.out, r.canonical[kind]...)
}

// canonicalOf returns the instructions for one kind of NaN: a number that equals
// itself is no NaN, and is kept.
func (r *rewriting) canonicalOf(info *module.Info) []byte {
	var e emitter
	local, equal, op, constant := r.floatF32, opF32Eq, module.OpF32Const, nan32
	choose := module.OpSelect
	switch {
	case info.NaN == module.F64:
		local, equal, op, constant = r.floatF64, opF64Eq, module.OpF64Const, nan64
	case info.Lanes == module.F32:
		local, equal, op, choose = r.floatV128, opF32x4Eq, module.OpV128Const, opBitSelect
		constant = lanes32
	case info.Lanes == module.F64:
		local, equal, op, choose = r.floatV128, opF64x2Eq, module.OpV128Const, opBitSelect
		constant = lanes64
	}
	e.indexed(module.OpLocalTee, local)
	e.op(op)
	e.out = append(e.out, constant...)
	e.indexed(module.OpLocalGet, local)
	e.indexed(module.OpLocalGet, local)
	e.op(equal, choose)
	return e.out
}

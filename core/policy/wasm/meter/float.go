package meter

import (
	"bytes"
	"encoding/binary"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
)

// The NaNs that all others become.
const (
	nan32 = 0x7fc00000
	nan64 = 0x7ff8000000000000
)

// canonical makes the NaN on the stack, if it is one, the one that all
// others become: a number is kept where it equals itself.
func (r *rewriting) canonical(info *module.Info) {
	local, equal := r.floatF32, opF32Eq
	constant := binary.LittleEndian.AppendUint32(nil, nan32)
	op := module.OpF32Const
	choose := module.OpSelect
	wide := binary.LittleEndian.AppendUint64(nil, nan64)
	switch {
	case info.NaN == module.F64:
		local, equal, op, constant = r.floatF64, opF64Eq, module.OpF64Const, wide
	case info.Lanes == module.F32:
		local, equal, op, choose = r.floatV128, opF32x4Eq, module.OpV128Const, opBitSelect
		constant = bytes.Repeat(constant, 4)
	case info.Lanes == module.F64:
		local, equal, op, choose = r.floatV128, opF64x2Eq, module.OpV128Const, opBitSelect
		constant = bytes.Repeat(wide, 2)
	}
	r.indexed(module.OpLocalTee, local)
	r.op(op)
	r.out = append(r.out, constant...)
	r.indexed(module.OpLocalGet, local)
	r.indexed(module.OpLocalGet, local)
	r.op(equal, choose)
}

package generate

import (
	"encoding/binary"
	"slices"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
	"github.com/wardlet/wardlet/test/wasmtest"
)

// The functions that settle a NaN have one parameter. If it does not equal itself they return the
// canonical NaN, otherwise the parameter.
var (
	settle32 = settleOne(0x5c, append([]byte{byte(module.OpF32Const)}, nan32...))
	settle64 = settleOne(0x62, append([]byte{byte(module.OpF64Const)}, nan64...))

	nan32   = binary.LittleEndian.AppendUint32(nil, 0x7fc00000)
	nan64   = binary.LittleEndian.AppendUint64(nil, 0x7ff8000000000000)
	nan32x4 = slices.Repeat(nan32, 4)
	nan64x2 = slices.Repeat(nan64, 2)
)

func settleOne(notEqual byte, nan []byte) []byte {
	return slices.Concat([]byte{0}, wasmtest.LocalGet(0), wasmtest.LocalGet(0), []byte{notEqual}, wasmtest.If(nan, wasmtest.Return),
		wasmtest.LocalGet(0), end)
}

// settleLanes replaces the lanes that do not equal themselves: it combines the other lanes of the
// vector with these lanes of nans.
func settleLanes(equal module.Op, nans []byte) []byte {
	vector := func(n module.Op) []byte { return Encode(0xfd<<16 | n) }
	const and, andnot, or = 78, 79, 80
	mask := slices.Concat(wasmtest.LocalGet(0), wasmtest.LocalGet(0), vector(equal))
	return slices.Concat([]byte{0},
		wasmtest.LocalGet(0), mask, vector(and),
		vector(12), nans, mask, vector(andnot),
		vector(or), end)
}

// look returns a function that returns the variable vector and the tables' sizes.
func look() []byte {
	out := []byte{0}
	const extractLong = 29
	for lane := range 2 {
		out = slices.Concat(out, wasmtest.GlobalGet(variable(module.V128)), Encode(0xfd<<16|extractLong), []byte{byte(lane)})
	}
	for i := range tables {
		out = slices.Concat(out, Encode(module.OpTableSize), []byte{byte(i), 0xad}) // i64.extend_i32_u
	}
	return append(out, end...)
}

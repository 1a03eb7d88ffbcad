package generate

import (
	"encoding/binary"
	"strings"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
	"github.com/wardlet/wardlet/test/wasmtest"
)

// Encode returns the opcode of an instruction, as encoded in a module.
func Encode(op module.Op) []byte {
	if op < 256 {
		return []byte{byte(op)}
	}
	return binary.AppendUvarint([]byte{byte(op >> 16)}, uint64(op&0xffff))
}

// Operand returns the operand that follows the opcode of an instruction that has a signature.
// choose returns a number below n.
func Operand(op module.Op, choose func(n int) int) []byte {
	kind, operation, _ := strings.Cut(op.String(), ".")
	switch {
	case op == module.OpI32Const:
		return wasmtest.I32Const(int32(integer(choose)))[1:]
	case op == module.OpI64Const:
		return wasmtest.I64Const(int64(integer(choose)))[1:]
	case op == module.OpF32Const:
		return binary.LittleEndian.AppendUint32(nil, floats32[choose(len(floats32))])
	case op == module.OpF64Const:
		return binary.LittleEndian.AppendUint64(nil, floats64[choose(len(floats64))])
	case op == module.OpV128Const:
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, half(choose)), half(choose))
	case operation == "shuffle":
		out := make([]byte, 16)
		for i := range out {
			out[i] = byte(choose(32))
		}
		return out
	case strings.HasPrefix(operation, "load"), strings.HasPrefix(operation, "store"):
		out := binary.AppendUvarint([]byte{0}, uint64(offsets[choose(len(offsets))]))
		if strings.HasSuffix(operation, "_lane") {
			out = append(out, byte(choose(lanesOf[strings.TrimLeft(operation, "loadstre")])))
		}
		return out
	case strings.HasPrefix(operation, "extract_lane"), operation == "replace_lane":
		return []byte{byte(choose(lanes[kind].count))}
	}
	return nil
}

// lanesOf are the numbers of lanes of a width in a vector.
var lanesOf = map[string]int{"8_lane": 16, "16_lane": 8, "32_lane": 4, "64_lane": 2}

// offsets are the offsets of loads and stores.
var offsets = []uint32{0, 1, 3, 8, 1000, 65535, 65536}

// integers, floats32 and floats64 are numbers at the limits that instructions distinguish. The
// floats have every kind of NaN.
var (
	integers = []uint64{
		0, 1, 0xffffffffffffffff, 2, 7, 31, 32, 63, 64, 127, 128, 255, 256, 32767, 65535, 65536, 0x7fffffff, 0x80000000, 0xffffffff,
		0x7fffffffffffffff, 0x8000000000000000, 0x0123456789abcdef,
	}
	floats32 = []uint32{
		0, 0x80000000, 0x3f800000, 0xbf800000, 0x3f000000, 0x40490fdb, 0x7f800000, 0xff800000, 0x00000001, 0x80000001, 0x7f7fffff,
		0x4f000000, 0xcf000000, 0x5f000000, 0x7fc00000, 0xffc00000, 0x7fc00001, 0xffe12345, 0x7f800001, 0xff800001, 0x7fbfffff,
	}
	floats64 = []uint64{
		0, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x3fe0000000000000, 0x400921fb54442d18,
		0x7ff0000000000000, 0xfff0000000000000, 1, 0x8000000000000001, 0x7fefffffffffffff, 0x41e0000000000000, 0xc1e0000000000000,
		0x43e0000000000000, 0x7ff8000000000000, 0xfff8000000000000, 0x7ff8000000000001, 0xfffc123456789abc,
		0x7ff0000000000001, 0xfff0000000000001, 0x7ff7ffffffffffff,
	}
)

func integer(choose func(n int) int) uint64 {
	if i := choose(2 * len(integers)); i < len(integers) {
		return integers[i]
	}
	return uint64(choose(256))<<8 | uint64(choose(256))
}

// half returns 64 bits of a vector.
func half(choose func(n int) int) uint64 {
	switch choose(3) {
	case 0:
		return integer(choose)
	case 1:
		return floats64[choose(len(floats64))]
	}
	return uint64(floats32[choose(len(floats32))])<<32 | uint64(floats32[choose(len(floats32))])
}

package meter

import (
	"encoding/binary"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
)

// emitter appends instructions.
type emitter struct{ out []byte }

func (e *emitter) op(ops ...module.Op) {
	for _, op := range ops {
		if op < 256 {
			e.out = append(e.out, byte(op))
		} else {
			e.out = binary.AppendUvarint(append(e.out, byte(op>>16)), uint64(op&0xffff))
		}
	}
}

// indexed appends an instruction with an index.
func (e *emitter) indexed(op module.Op, index uint32) {
	if op < 256 && index < 0x80 { // nearly always
		e.out = append(e.out, byte(op), byte(index))
		return
	}
	e.op(op)
	e.out = binary.AppendUvarint(e.out, uint64(index))
}

func (e *emitter) i32(n int32) {
	e.out = appendSigned(append(e.out, byte(module.OpI32Const)), int64(n))
}

func (e *emitter) i64(n int64) {
	e.out = appendSigned(append(e.out, byte(module.OpI64Const)), n)
}

// begin opens a block without parameters and results.
func (e *emitter) begin(op module.Op) {
	const empty = 0x40
	e.out = append(e.out, byte(op), empty)
}

// appendSigned appends a number in signed LEB128.
func appendSigned(out []byte, n int64) []byte {
	for n < -64 || n > 63 {
		out = append(out, byte(n&0x7f)|0x80)
		n >>= 7
	}
	return append(out, byte(n&0x7f))
}

// These are instructions that only the meter needs by name.
const (
	opI32GtU    module.Op = 0x4b
	opI32LeU    module.Op = 0x4d
	opI32Eq     module.Op = 0x46
	opI64LtS    module.Op = 0x53
	opI64GeS    module.Op = 0x59
	opI64GtU    module.Op = 0x56
	opF32Eq     module.Op = 0x5b
	opF64Eq     module.Op = 0x61
	opI32Add    module.Op = 0x6a
	opI32Sub    module.Op = 0x6b
	opI64Add    module.Op = 0x7c
	opI64Sub    module.Op = 0x7d
	opI64Mul    module.Op = 0x7e
	opI64Or     module.Op = 0x84
	opI64Shl    module.Op = 0x86
	opI64ShrU   module.Op = 0x88
	opI64Extend module.Op = 0xad
	opF32x4Eq   module.Op = 0xfd<<16 | 65
	opF64x2Eq   module.Op = 0xfd<<16 | 71
	opBitSelect module.Op = 0xfd<<16 | 82
)

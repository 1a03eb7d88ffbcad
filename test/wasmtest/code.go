package wasmtest

import (
	"encoding/binary"
	"slices"
)

// Code is a piece of a function's body.
type Code []byte

// Instructions without operands.
var (
	Unreachable = Code{0x00}
	Return      = Code{0x0f}
	Drop        = Code{0x1a}
	I32Eqz      = Code{0x45}
	I32Eq       = Code{0x46}
	I32Ne       = Code{0x47}
	I32LtU      = Code{0x49}
	I32Add      = Code{0x6a}
	I32Sub      = Code{0x6b}
	I32DivU     = Code{0x6e}
	MemorySize  = Code{0x3f, 0x00}
	MemoryGrow  = Code{0x40, 0x00}
)

// Join concatenates pieces of code.
func Join(parts ...Code) Code { return slices.Concat(parts...) }

// I32Const pushes a number.
func I32Const(n int32) Code { return appendSigned(Code{0x41}, int64(n)) }

// I64Const pushes a number.
func I64Const(n int64) Code { return appendSigned(Code{0x42}, n) }

// LocalGet pushes a parameter or local.
func LocalGet(local uint32) Code { return appendIndex(Code{0x20}, local) }

// LocalSet pops into a parameter or local.
func LocalSet(local uint32) Code { return appendIndex(Code{0x21}, local) }

// GlobalGet pushes a global.
func GlobalGet(global uint32) Code { return appendIndex(Code{0x23}, global) }

// GlobalSet pops into a global.
func GlobalSet(global uint32) Code { return appendIndex(Code{0x24}, global) }

// Call calls a function.
func Call(f Func) Code { return appendIndex(Code{0x10}, uint32(f)) }

// I32Load loads four bytes from offset plus the address on the stack.
func I32Load(offset uint32) Code { return appendIndex(Code{0x28, 0x00}, offset) }

// I32Load8 loads one byte as an unsigned number.
func I32Load8(offset uint32) Code { return appendIndex(Code{0x2d, 0x00}, offset) }

// I32Load16 loads two bytes as an unsigned number.
func I32Load16(offset uint32) Code { return appendIndex(Code{0x2f, 0x00}, offset) }

// I64Load loads eight bytes from offset plus the address on the stack.
func I64Load(offset uint32) Code { return appendIndex(Code{0x29, 0x00}, offset) }

// I32Store stores the number on the stack at offset plus the address below it.
func I32Store(offset uint32) Code { return appendIndex(Code{0x36, 0x00}, offset) }

// Block encloses code; Br and BrIf of depth 0 leave it.
func Block(body ...Code) Code { return enclose(0x02, body) }

// Loop encloses code; Br and BrIf of depth 0 restart it.
func Loop(body ...Code) Code { return enclose(0x03, body) }

// If runs its body when the number on the stack is not zero.
func If(body ...Code) Code { return enclose(0x04, body) }

// Br branches to an enclosing Block, Loop or If.
func Br(depth uint32) Code { return appendIndex(Code{0x0c}, depth) }

// BrIf branches when the number on the stack is not zero.
func BrIf(depth uint32) Code { return appendIndex(Code{0x0d}, depth) }

func enclose(op byte, body []Code) Code {
	return slices.Concat(Code{op, 0x40}, Join(body...), Code{0x0b})
}

func appendIndex(code Code, n uint32) Code { return binary.AppendUvarint(code, uint64(n)) }

// appendSigned appends a number in signed LEB128.
func appendSigned(code Code, n int64) Code {
	for {
		b := byte(n & 0x7f)
		n >>= 7
		if n == 0 && b&0x40 == 0 || n == -1 && b&0x40 != 0 {
			return append(code, b)
		}
		code = append(code, b|0x80)
	}
}

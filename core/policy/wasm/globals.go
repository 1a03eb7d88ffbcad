package wasm

import "fmt"

// maxMutableGlobals bounds what is put back after each call.
const maxMutableGlobals = 1024

var valueTypes = map[byte]string{
	0x7f: "i32", 0x7e: "i64", 0x7d: "f32", 0x7c: "f64", 0x7b: "v128", 0x70: "funcref", 0x6f: "externref",
}

// numeric says that a global of this type can be put back after a call.
func (g global) numeric() bool { return g.valueType >= 0x7c && g.valueType <= 0x7f }

// verifyGlobals refuses the state that no reset would reach.
func (l *layout) verifyGlobals() error {
	mutable := 0
	for i, g := range l.globals {
		if !g.mutable {
			continue
		}
		if mutable++; mutable > maxMutableGlobals {
			return failf(AbiMismatch, "the module has more than %d mutable globals", maxMutableGlobals)
		}
		if !g.numeric() {
			name, ok := valueTypes[g.valueType]
			if !ok {
				name = fmt.Sprintf("%#x", g.valueType)
			}
			return failf(AbiMismatch, "global %d is mutable and of type %s: it could not be put back after a call", i, name)
		}
	}
	return nil
}

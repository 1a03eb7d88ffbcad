package wasm

// maxMutableGlobals bounds what is put back after each call.
const maxMutableGlobals = 1024

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
			return failf(AbiMismatch, "global %d is mutable and of type %s: it could not be put back after a call", i, valueTypes[g.valueType])
		}
	}
	return nil
}

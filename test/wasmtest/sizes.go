package wasmtest

import "slices"

// Allowing returns a plugin that allows every pod, with n additional functions that all have the
// same code.
func Allowing(n int, code Code) []byte {
	m := Plugin()
	for range n {
		m.Func(nil, nil, nil, code)
	}
	m.Admit(I32Const(0))
	return m.Bytes()
}

// Padded extends a module to length bytes, with a section that no host reads.
func Padded(module []byte, length int) []byte {
	const head = 1 + 4 + 2 // the section's number, its length in four bytes, its name
	n := length - len(module) - head + 2
	return slices.Concat(module, []byte{0, byte(n) | 0x80, byte(n>>7) | 0x80, byte(n>>14) | 0x80, byte(n >> 21)}, []byte{1, 'x'}, make([]byte, n-2))
}

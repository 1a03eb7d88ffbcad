// Package generate makes valid WebAssembly modules of any bytes, for tests
// that run one module in several ways and compare.
//
// Comes in: bytes, as a fuzzer makes them. Goes out: a module (New) that every
// engine must take, with functions to call and state to look at; or the types
// and operands of a single instruction (SignatureOf, Operand). The same bytes
// give the same module. The package owns no goroutine.
//
// What the functions do ends soon whatever the bytes are: each entry of a
// function and each turn of a loop takes one from a counter in global 0, and
// where nothing is left functions return at once and loops are not begun anew.
package generate

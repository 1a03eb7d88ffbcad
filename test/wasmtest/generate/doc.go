// Package generate makes valid WebAssembly modules from any bytes, for tests that run one module in
// several ways and compare the results.
//
// Comes in: bytes, as a fuzzer makes them. Goes out: a module (New) that every engine must accept,
// with functions to call and state to read; or the types and operands of a single instruction
// (SignatureOf, Operand). The same bytes make the same module. The package owns no goroutine.
//
// The functions return soon whatever the bytes are: each entry of a function and each iteration of
// a loop decrements a counter in global 0. When the counter is used up, functions return at once
// and loops do not continue.
package generate

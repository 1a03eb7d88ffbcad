// Package wasmtest assembles small WebAssembly modules for tests, so that no
// test needs a compiler of another language.
//
// Comes in: imports, functions, globals and data, by calls of a Module's
// methods. Goes out: the bytes of a module (Module.Bytes), valid as far as what
// was put in is: tests also build broken ones. The package owns no goroutine.
//
// The functions of guests.go give ready-made plugins.
package wasmtest

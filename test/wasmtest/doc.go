// Package wasmtest assembles small WebAssembly modules for tests, so that no test needs a compiler
// of another language.
//
// Comes in: imports, functions, globals and data, by calls of a Module's methods. Goes out: the
// bytes of a module (Module.Bytes). The module is valid if its parts are; tests also build broken
// modules. The package owns no goroutine.
//
// The functions of guests.go return ready-made plugins.
package wasmtest

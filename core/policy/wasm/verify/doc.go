// Package verify refuses modules by their shape, before any part of them is
// compiled: modules that would need much memory or time to compile or to
// instantiate, and modules with state that a reset does not restore.
//
// Input: a module that package module has read. Output: figures (Shape), and every
// reason to refuse the module, with section, index and offset. The package starts
// no goroutine. Package wasm checks what a plugin must export and may import.
package verify

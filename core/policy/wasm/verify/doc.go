// Package verify refuses modules by their shape, before anything of them is
// compiled: what would take much memory or time to compile or to instantiate,
// and what has state that no reset reaches.
//
// Comes in: a module that package module has read. Goes out: what was found
// (Shape) and every reason to refuse it, with section, index and offset. The
// package owns no goroutine. What a plugin must export and may import is the
// matter of package wasm.
package verify

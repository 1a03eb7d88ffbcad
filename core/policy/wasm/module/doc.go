// Package module reads the binary format of WebAssembly modules.
//
// Comes in: the bytes of a module, from anybody. Goes out: what its sections
// say (Parse), and the instructions of its functions one by one (Reader). The
// package owns no goroutine and knows nothing of policies: which modules are
// refused beyond what is malformed is decided by package verify, and what is
// added to them by package meter.
//
// Nothing is allocated by the size a module declares, only by the bytes it
// has. Every index is checked against what the module defines, because a
// rewritten module defines more: what was invalid must not become valid.
// Types are not checked; the compiler does that.
package module

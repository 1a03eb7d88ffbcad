// Package wasm is the sandbox that policy plugins run in. It speaks the ABI
// wardlet1, which docs/abi.md specifies.
//
// Comes in: the bytes of a WebAssembly module with what its policy says of it
// (Engine.Load), and questions about pods (Plugin.Admit, Merge and Filter).
// Goes out: what the plugin answered, or a Failure with its own code; what
// plugins log ends in the engine's logger. Compiled code is kept in a directory
// of its owner.
//
// The package owns no goroutine. An Engine and its Plugins may be used from
// any; calls of one plugin run one after the other, on the caller's goroutine.
//
// A plugin sees nothing but the question (the fields it declared, or whole
// documents), facts about the node if its policy may, its settings, a frozen
// clock and seeded random numbers. It cannot read the network, the disk or the
// environment. Every call finds the linear memory and the mutable globals as
// they were after wardlet_init: they are put back after each call, and an
// instance that trapped or grew is thrown away.
//
// Before a module is compiled its sections are walked: what is not allowed is
// refused, mutable globals are exported so that they can be put back, tables get
// their size as their maximum so that they cannot grow, pieces of data are
// joined, and custom sections left out. Tables, elements and local variables
// are bounded for the whole module: they take Go's heap, and a process that
// gets no more of that ends. After initialisation the
// memory is remembered in a file without a name and mapped from it, copy on
// write, so that putting it back is one system call.
//
// What is not limited yet: time and stack. A plugin that loops, while it is
// loaded or while it judges, is not stopped; it keeps the goroutine that called
// it, and as running native code cannot be interrupted, the next garbage
// collection waits for it with the whole process. A recursion without end
// stops at wazero's own ceiling, after some 100 MB of Go stack. Modules that
// are expensive to compile (many or long functions, types with many parameters)
// are not refused either. Until they are, load only plugins whose authors are
// trusted not to attack the node.
package wasm

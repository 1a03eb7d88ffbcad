// Package wasm is the sandbox that policy plugins run in. It speaks the ABI
// wardlet1, which docs/abi.md specifies.
//
// Comes in: the bytes of a WebAssembly module with what its policy says of it
// (Engine.Load), and questions about pods (Plugin.Admit, Merge, Filter and Connect).
// Goes out: what the plugin answered, or a Failure with its own code; what
// plugins log ends in the engine's logger. Compiled code is kept in a directory
// of its owner.
//
// The package owns no goroutine. An Engine and its Plugins may be used from
// any. Each call runs on the caller's goroutine, in an instance of its own; a
// plugin has as many as there are processors, and who finds none free waits.
//
// A plugin sees nothing but the question (the fields it declared, or whole
// documents), facts about the node if its policy may, its settings, a frozen
// clock and seeded random numbers. It cannot read the network, the disk or the
// environment. Every call finds the linear memory and the mutable globals as
// they were after wardlet_init: they are put back after each call, also the size
// of the memory, and an instance that trapped is thrown away.
//
// What happens to a module on its way: package module reads it; package verify
// and this one refuse what is too large, of a hostile shape, or not made for
// this ABI; package meter makes it count fuel and stack; package compile has a
// child turn it into machine code. Package memory keeps the guest's memory and
// puts it back.
//
// A guest gets its fuel in slices of 50 µs at most and returns to the host after
// each, which so can end the call, and lets Go's garbage collector go on: code
// that runs natively cannot be interrupted. Once a millisecond others that wait
// for the processor come first.
package wasm

// Package wasm is the sandbox in which policy plugins run. It implements the ABI
// wardlet1, which docs/abi.md specifies.
//
// Inputs: the bytes of a WebAssembly module with the options of its policy
// (Engine.Load), and questions about pods (Plugin.Admit, Merge, Filter and
// Connect). Outputs: the plugin's answer, or a Failure with its own code. What
// plugins log is written to the engine's logger. Compiled code is kept in a
// directory that only the agent's user may access.
//
// The package starts no goroutine. Engines and Plugins are safe for concurrent use.
// Each call runs on the caller's goroutine, in an instance of its own. The number
// of instances of a plugin is limited, see mostInstances; a call that finds none
// free waits.
//
// A plugin sees nothing but the question (the fields that it declared, or whole
// documents), facts about the node if its policy may see them, its settings, a
// clock that stands still, and seeded random numbers. It cannot access the network,
// the disk or the environment. At the start of every call the linear memory and the
// mutable globals are as they were after wardlet_init: the host resets them, and
// the size of the memory, after each call. An instance that trapped is thrown away.
//
// A module passes through these packages: package module reads it. Package verify
// and this one refuse modules that are too large, of a hostile shape, or not made
// for this ABI. Package meter adds code that counts fuel and stack. Package compile
// starts a child process that compiles the module to machine code. Package memory
// holds the guest's memory and resets it.
//
// A guest gets its fuel in slices of at most 50 µs, because compiled code cannot be
// interrupted. After each slice the guest returns to the host, which can then stop
// the call and lets Go's garbage collector proceed. Once a millisecond the host
// yields the processor to other goroutines.
package wasm

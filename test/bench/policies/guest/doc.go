// Package guest builds the plugins of the bench from their sources below
// guests, as docs/abi.md says, and returns copies of them that are other modules.
//
// Comes in: the directory of the project. Goes out: WebAssembly modules, as
// files. The package owns no goroutine; compilers run in processes that it
// waits for.
package guest

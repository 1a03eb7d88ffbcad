// Package meter rewrites WebAssembly modules so that they count what they
// cost, and stop in time.
//
// Comes in: a module that package module has read. Goes out: the module as it
// is compiled (Rewrite). It does what the original does, and besides
//
//   - takes fuel from a global for every block of instructions it enters, by
//     the weights of weights.go, and for ranges of memory by their length;
//   - takes from another global what each call needs of the stack, and returns
//     it back at the call's end;
//   - calls the host's function Yield where either has gone below zero, and
//     between the pieces of long ranges. The host refills the fuel or ends the
//     call;
//   - turns every NaN whose bits the specification leaves open into the one
//     that has only the highest bit of its fraction set.
//
// What is taken does not depend on the machine, nor on how the host refills:
// compiler and interpreter, amd64 and arm64 use the same fuel to the last
// unit. docs/abi.md specifies the rules. The package owns no goroutine.
package meter

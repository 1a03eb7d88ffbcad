// Package meter rewrites WebAssembly modules so that they count the fuel that they
// use, and stop in time.
//
// Input: a module that package module has read. Output: the module in the form in
// which it is compiled (Rewrite). It does what the original does, and in addition
//
//   - takes fuel from a global for every block of instructions that it enters, by
//     the weights of weights.go, and for ranges of memory by their length;
//   - takes from another global what each call needs of the stack, and returns
//     it at the call's end;
//   - calls the host's function Yield if either global is below zero, and
//     between the pieces of long ranges. The host refills the fuel or stops the
//     call;
//   - replaces every NaN whose bits the specification does not define by the NaN
//     in which only the highest bit of the fraction is set.
//
// The amounts depend neither on the machine nor on how the host refills: compiler
// and interpreter, amd64 and arm64 use exactly the same fuel. docs/abi.md specifies
// the rules. The package starts no goroutine.
package meter

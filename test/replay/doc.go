// Package replay tests that replayed decisions are the same as recorded, to the last bit. They are
// replayed by another process, which is the product itself, on the compiler and on the interpreter,
// after the policies are gone, and from a bundle that was exported.
//
// Comes in: nothing. Goes out: nothing. A plane with real plugins, written in Go and assembled by
// hand, makes the decisions and keeps them in a state directory; the tests wait for its goroutines.
package replay

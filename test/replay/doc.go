// Package replay proves that decisions on record are made again as they were, to the
// last bit: by another process, which is the product itself, on the compiler and the
// interpreter, after the policies are gone, and from a bundle that was taken elsewhere.
//
// Comes in: nothing. Goes out: nothing. A plane with real plugins, of Go and by hand,
// makes the decisions and keeps them in a state directory; the tests wait for its
// goroutines.
package replay

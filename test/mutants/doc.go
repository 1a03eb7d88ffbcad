// Package mutants is the switch by which tests make a part of the product wrong on
// purpose, in one way at a time, to show that they would find it.
//
// Comes in: the faults of each part, by name, from files that only an overlay of
// `go test` adds to the product's packages (test/mutants/overlay writes it). Goes out:
// the fault that is switched on, to the places that the overlay edits.
//
// The product's own source holds nothing of this. The package owns no goroutine.
package mutants

// Package manifest compares how a kubelet and core/pod read a manifest: which pods they make of it,
// with which defaults, or whether they refuse it.
//
// Comes in: a corpus of valid and broken manifests, and mutants of them made from a seed. Goes out:
// only a verdict. The predicate of a line of docs/differences.md, section Manifests, must recognise
// each difference; the number of uses of each line is printed.
//
// The kubelet's side is its own code: the functions that its file and HTTP sources call are linked
// by name, and a test checks that the sources themselves return the same.
package manifest

// Package manifest compares what a kubelet makes of a manifest with what
// core/pod makes of it: which pods, with which defaults, or a refusal.
//
// Comes in: a corpus of valid and broken manifests, and mutants of them made
// from a seed. Goes out: nothing but a verdict. Whatever differs must be
// recognised by the predicate of a line of docs/differences.md, section
// Manifests; how often each was used is printed.
//
// The kubelet's side is its own code: the functions its file and HTTP sources
// call are reached by name, and a test holds them against the sources
// themselves.
package manifest

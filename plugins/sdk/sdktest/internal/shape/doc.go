// Package shape knows the fields of a Pod and their types, from a text that is
// made from the Pod API (pod.txt; tools/plugins/podshape writes it), and of
// what a question has beside pods (question.txt, written by hand from
// docs/abi.md).
//
// Comes in: a pod as encoding/json decodes it. Goes out: the same pod checked
// and in the form policies see, the types that lead through it, and the JSON
// text the agent would make of any part. The package owns no goroutine; what
// it hands out is not changed any more.
package shape

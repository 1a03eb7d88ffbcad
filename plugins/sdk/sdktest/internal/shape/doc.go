// Package shape has the fields and types of a Pod and of the other parts of a question.
// Those of a Pod are in pod.txt, which tools/plugins/podshape generates from the Pod API.
// Those of the other parts are in question.txt, which is written by hand from docs/abi.md.
//
// Comes in: a pod as encoding/json decodes it. Goes out: the same pod, checked and in the
// form that policies see, the types of its parts, and the JSON text that the agent would
// make of any part. The package starts no goroutine. The returned values must not be
// changed.
package shape

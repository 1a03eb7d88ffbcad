// Package rivals has the rule of the bench as other engines run it: cel-go,
// OPA's evaluator in Go, and OPA compiled to WebAssembly. Each gets the pod in
// the form that suits it best.
//
// Comes in: a pod, as what a rival takes. Goes out: whether it is allowed. The
// package owns no goroutine. A rival is used by one goroutine at a time.
package rivals

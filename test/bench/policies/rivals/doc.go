// Package rivals runs the rule of the bench in other engines: cel-go, OPA's evaluator in Go, and
// OPA compiled to WebAssembly. Each gets the pod in the form that suits it best.
//
// Comes in: a pod, in the form that a rival reads. Goes out: whether it is allowed. The package
// owns no goroutine. A rival is used by one goroutine at a time.
package rivals

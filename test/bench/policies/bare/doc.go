// Package bare runs plugins with wazero and next to nothing else: no verifier,
// no pool, no answers, only so much of the ABI as the guests of the bench need.
// It shows what a guest's own code costs, metered and as it is.
//
// Comes in: modules and a pod. Goes out: what wardlet_admit returns. The package
// owns no goroutine. A Runtime and its guests belong to one goroutine.
package bare

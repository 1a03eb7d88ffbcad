// Package bare runs plugins with wazero and little else: no verifier, no pool, no answers, and only
// the part of the ABI that the guests of the bench need. It shows the cost of a guest's own code,
// metered and unmetered.
//
// Comes in: modules and a pod. Goes out: the result of wardlet_admit. The package owns no
// goroutine. A Runtime and its guests belong to one goroutine.
package bare

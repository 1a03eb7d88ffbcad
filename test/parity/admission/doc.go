// Package admission compares Wardlet's admission checks and preemption with a
// kubelet's own: its predicate handler and what that does for critical pods.
//
// Comes in: a seed. Goes out: a world of a node, the pods on it and one that wants to
// start, and where the two answer it differently: whether it is admitted, the reason,
// the message, and who has to go for it. What differs must be recognised by the
// predicate of a line of docs/differences.md, section Admission, and every predicate
// must be met. The package has nothing but tests, and no goroutines.
package admission

// Package admission compares Wardlet's admission checks and preemption with a kubelet's own: its
// predicate handler and its preemption for critical pods.
//
// Comes in: a seed. Goes out: worlds that the two answer differently. A world is a node, the pods
// on the node and one pod that wants to start. An answer is whether the pod is admitted, the
// reason, the message, and which pods must be evicted. The predicate of a line of
// docs/differences.md, section Admission, must recognise each difference, and every predicate must
// be met. The package has nothing but tests, and no goroutines.
package admission

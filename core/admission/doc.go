// Package admission says whether a pod may start on this node, and shows which
// pods may not yet.
//
// Comes in: from the sync loop a pod with the verdict that policy gave on it,
// and the pods beside it; what the node has; from the mux every version of a pod
// that policy does not let through. Goes out: for the sync loop whether the pod is
// admitted, and which pods have to end for it; statuses, conditions and events of
// pods that policy holds, and the list of them.
//
// The package asks no policy: it reads the verdict that was stored. Handlers do
// nothing but answer: who has to end is ended by the sync loop. The package owns
// no goroutine. A Chain belongs to the sync loop's; Waits is told by the mux's
// and may be read from anywhere.
package admission

// Package admission says whether a pod may start on this node, and shows which
// pods may not yet.
//
// Comes in: from the sync loop a pod with the verdict that policy gave on it,
// and the pods beside it; what the node has; from the mux every version of a pod
// that policy does not let through. Goes out: for the sync loop whether the pod is
// admitted, and which pods have to end for it; statuses, conditions and events of
// pods that policy holds, and the list of them.
//
// The package asks no policy: it reads the stored verdict. Handlers only answer:
// the sync loop ends the pods that have to end. The package owns no goroutine. A
// Chain belongs to the sync loop's. The mux's goroutine updates Waits; any
// goroutine may read it.
package admission

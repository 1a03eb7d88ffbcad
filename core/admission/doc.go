// Package admission decides whether a pod may start on this node, and shows which pods may not
// start yet.
//
// Comes in: from the sync loop a pod with its verdict of policy, and the other pods of the node;
// the resources of the node; from the mux every version of a pod that policy does not admit. Goes
// out: for the sync loop whether the pod is admitted, and which pods must terminate first;
// statuses, conditions and events of pods that policy holds, and the list of these pods.
//
// The package asks no policy: it reads the stored verdict. Handlers have no side effects: the sync
// loop terminates the pods. The package owns no goroutine. A Chain is used by the sync loop's
// goroutine only. The mux's goroutine updates Waits; any goroutine may read it.
package admission

// Package syncloop compares the wanted pods with the running pods: a loop on a single goroutine
// turns changes, lifecycle events and ticks into requests to the workers.
//
// Input: updates from the mux, events from the PLEG, due times from the workers, a sync tick every
// second and a housekeeping tick every two seconds. Output: requests to the workers, and the set of
// pods that should run.
//
// Loop.Run is the goroutine and owns the set. It never waits for the runtime. The only call to the
// runtime is the list that housekeeping requests before it terminates a pod that no source wants.
// That call runs on another goroutine, and Run waits for it before it returns. Removable and
// Healthy may be called from any goroutine.
//
// A pod that is not admitted stays in the set without a worker until its source removes it. It is
// shown as failed, or as pending if it is a static pod that this node rejects. Such a static pod is
// judged again as soon as a pod has left the node. If other pods are preempted for a critical pod,
// the critical pod starts when they have terminated. The verdict of policy arrives with the pod;
// the loop does not ask for it. A pod that an earlier agent has started is not judged again. A pod
// that is created again under its UID is judged when nothing of the earlier pod is left on the
// node.
//
// The mux decides whether a pod is wanted, and only once the pod's own source is ready. If one
// source is unavailable, its pods are kept, and pods of other sources do not have to wait.
package syncloop

// Package syncloop is the one place where what should run meets what happens:
// a loop on a single goroutine that turns changes, lifecycle events and ticks
// into requests to the workers.
//
// Comes in: updates from the mux, events from the PLEG, due times from the
// workers, a sync tick every second and a housekeeping tick every two. Goes
// out: requests to the workers, and the set of pods that are to run.
//
// Loop.Run is the goroutine; it owns the set. Nothing it does waits for the
// runtime: the only such call, the list that housekeeping asks for before it
// ends a pod that no source wants, runs beside it on one goroutine that Run waits
// for. Removable and Healthy may be called from anywhere.
//
// A pod that is not admitted stays in the set without a worker until its source
// takes it away: shown as failed, or, as a static pod that this node rejects, as
// pending, and then it is judged again as soon as something has left the node.
// Where others give way to a critical pod, that one starts when they have ended.
// What policy says of a pod comes with it; the loop does not ask. What an earlier
// agent has begun with is not judged again. A pod that comes back under its UID is judged
// when nothing is left on the node of the one that went.
//
// Whether a pod is wanted is the mux's to say, and only once the pod's own
// source is ready: one source that is down keeps its pods, and does not hold up
// those of others.
package syncloop

// Package worker brings each pod to the state that it should have. It runs one state machine per
// pod UID, which goes sync → terminating → terminated → finished and never back.
//
// Input: the sync loop sends requests (Pool.Submit), and Cache holds what the runtime shows.
//
// Output: the package calls the runtime, images, volumes and cgroups. It writes statuses and
// events, and due times (Pool.Due) at which the sync loop asks again. Outcomes keep the part of a
// status that must survive a restart: a pod that has ended is not started again, even if the
// runtime has lost its containers. Terminations keep which pods are being terminated and how much
// of their grace period is left. Observer records how long iterations took.
//
// Every requested pod has one goroutine, which the Pool owns. The goroutine starts with the first
// request and returns when the pod is finished or forgotten. Pool.Stop waits for the goroutines,
// but not for ever if a call ignores its context. Requests coalesce: a worker acts on the newest
// one, and a later request never cancels a request to terminate the pod. The worker itself
// terminates a pod at its active deadline, even in the middle of an iteration. The Pool's lock
// guards the records. It is never held during a call to the outside except to look into the cache.
//
// A worker acts only on an observation newer than its last action, so it never repeats an action
// whose result it has not seen yet. For a pod whose runtime state is right already, it makes no
// call that changes anything. This is how an agent adopts running pods when it starts.
package worker

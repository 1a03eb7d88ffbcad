// Package worker brings each pod to where it should be: one state machine per
// pod UID that goes sync → terminating → terminated → finished, never back.
//
// Comes in: requests from the sync loop (Pool.Submit) and what the runtime
// shows (Cache). Goes out: calls to the runtime, images, volumes and cgroups,
// statuses, events, and due times (Pool.Due) at which the sync loop asks again;
// to Outcomes, what of a status must survive a restart: a pod that ended is not
// started again, also when the runtime has lost its containers; to Terminations,
// which pods are being terminated, and how much of their grace period is left; and, to
// Observer, how long iterations took.
//
// Every pod that is asked for has one goroutine, owned by the Pool: it starts
// with the first request and ends when the pod is finished or forgotten, and
// Pool.Stop waits for it, but not for ever for a call that ignores its context.
// Requests coalesce: a worker acts on the newest, and a request to end a pod is
// never lost to a later one. The worker itself ends a pod whose active deadline has
// come, when it comes, whatever it is about. Records are guarded by the Pool's lock,
// which is never held during a call to the outside except to look into the cache.
//
// A worker acts only on an observation newer than its last action, so it never
// does a thing twice because it had not yet seen it done. A pod whose runtime
// state is right already gets no call that changes anything: that is how an
// agent adopts what runs when it starts.
package worker

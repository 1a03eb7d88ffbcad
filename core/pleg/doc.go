// Package pleg is the pod lifecycle event generator: it watches what the
// runtime runs and holds what it last saw of every pod.
//
// Comes in: lists and inspections of a Runtime, and its stream of events where
// it has one. Goes out: events for the sync loop, observations for workers
// through the Cache, figures to an Observer.
//
// An event of the runtime means that its pod is inspected, at once or, where
// nothing of it runs and no caller waits, within a second; nothing else of it is
// believed. While events come, a full list every minute finds what they did not
// tell; while they do not, lists come every second. A few inspections run at a
// time; one that waits for its turn serves all that ask before it begins. Only a
// full list says that a pod does not exist, and only an inspection or a list
// that shows it unchanged makes what is known of one newer.
//
// Generator.Run is the one goroutine that owns all records. Lists, inspections
// and the stream of events run beside it, on goroutines of their own that Run
// waits for, and hand their results back to it: a runtime that hangs over one pod
// holds up that pod and nothing else. An inspection that does not end when its time
// is over is given up; its goroutine stays, one for each pod at most, and Run waits
// for it no longer than 5 s. The cache is safe for concurrent use.
package pleg

// Package pleg is the pod lifecycle event generator: it watches what the
// runtime runs and holds what it last saw of every pod.
//
// Comes in: lists and inspections of a Runtime. Goes out: events for the sync
// loop, observations for workers through the Cache.
//
// Generator.Run is the one goroutine that owns all records. Lists and
// inspections run beside it, each on a goroutine of its own that Run waits
// for, and hand their results back to it: a runtime that hangs over one pod
// holds up that pod and nothing else. The cache is safe for concurrent use.
package pleg

// Package pleg is the pod lifecycle event generator: it watches what the runtime runs and holds the
// last observation of every pod.
//
// Input: lists and inspections of a Runtime, and its stream of events if it has one. Output: events
// for the sync loop, observations for workers through the Cache, measurements for an Observer.
//
// An event of the runtime only causes an inspection of its pod; its content is not trusted. The
// inspection is made at once or, if nothing of the pod runs and no caller waits, within a second.
// While events arrive, a full list every minute finds changes without an event. Otherwise a list is
// made every second. A few inspections run at a time; an inspection that waits for its turn serves
// all requests made before it begins. Only a full list proves that a pod does not exist. An
// observation becomes newer only by an inspection, or by a list that shows the pod unchanged.
//
// Generator.Run is the one goroutine that owns all records. Lists, inspections and the stream of
// events run on goroutines of their own, which hand their results back to Run. Run waits for these
// goroutines when it returns. If the runtime hangs on one pod, only that pod is delayed. An
// inspection that does not return at its timeout is abandoned. Its goroutine stays, at most one for
// each pod, and Run waits for it no longer than 5 s. The cache is safe for concurrent use.
package pleg

// Package probe finds out whether containers have started, live and are ready, as their startup, liveness and readiness
// probes say.
//
// Comes in: pods, from their workers, and their statuses. Goes out: a Result for each container, by its ID, which a pod's
// status and its worker's plan read; a change of readiness goes into the status at once, without the worker, and the worker
// is woken through the sync loop: to restart a container, to start the next one, or to keep over restarts what was found. A result is a fact about one container, never about a name: what comes
// after it knows nothing of it.
//
// Each probe has a goroutine of its own. The Manager owns them: Remove ends those of a pod, Run all of them, and waits. Of
// one owner's probes only some run at a time, so that a thousand of them do not delay another owner's.
package probe

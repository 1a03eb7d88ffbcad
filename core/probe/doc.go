// Package probe determines whether containers have started, are live and are ready, with their
// startup, liveness and readiness probes.
//
// Input: pods, from their workers, and their statuses. Output: a Result for each container, by its
// ID, which the pod's status and its worker's plan read. A change of readiness is written into the
// status at once, without the worker. The worker is woken through the sync loop to restart a
// container, to start the next one, or to save results across restarts. A result belongs to one
// container instance, never to a container name: the next instance begins without results.
//
// Each probe has a goroutine of its own. The Manager owns these goroutines: Remove stops those of a
// pod; Run stops all of them and waits. Only some probes of one owner run at a time, so a thousand
// of them do not delay those of another owner.
package probe

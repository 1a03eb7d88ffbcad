// Package gc removes what pods leave behind: dead containers and old sandboxes of pods that are
// kept, and everything of pods that are gone.
//
// Input: what the runtime shows, the existing pod directories and cgroups, what is known about pods
// already, and notifications of pods that have ended. Output: removals. Run is the package's
// goroutine. It starts one task per pod that needs one, a few at a time, and waits for them before
// it returns.
//
// A pass lists everything, every 30 seconds. Between passes, a look every second uses what is known
// and makes no call. A pod that a look finds, or that has just ended, gets a task of its own at
// once.
//
// Only objects with the agent's mark or below its own roots are removed, and nothing of a pod that
// may still be wanted: see Pods.
package gc

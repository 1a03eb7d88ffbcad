// Package gc removes what pods leave behind: dead containers and old sandboxes
// of pods that live on, and everything of pods that are gone.
//
// Comes in: what the runtime shows, the pod directories and the cgroups there
// are, what is known of pods already, and word of a pod that has ended. Goes out:
// removals. Run is the package's goroutine; it starts one task per pod that needs
// something, a few at a time, and waits for them when it ends.
//
// A pass lists everything and comes every 30 seconds. Between passes, a look
// every second uses what is known and costs no call. What it finds, and the pod
// that has just ended, is worked on at once, alone.
//
// What is removed carries the agent's mark or lies below its own roots, and
// nothing of a pod is removed that may still be wanted: see Pods.
package gc

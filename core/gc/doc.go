// Package gc removes what pods leave behind: dead containers and old sandboxes
// of pods that live on, and everything of pods that are gone.
//
// Comes in: what the runtime shows, the pod directories and the cgroups there
// are, and a Nudge when a pod has ended. Goes out: removals. Run is the
// package's goroutine; it starts one task per pod that needs something, a few
// at a time, and waits for them when it ends.
//
// What is removed carries the agent's mark or lies below its own roots, and
// nothing of a pod is removed that may still be wanted: see Pods.
package gc

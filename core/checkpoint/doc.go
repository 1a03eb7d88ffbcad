// Package checkpoint stores the progress of pods over a restart of the agent: the outcomes of
// terminated pods, the restart counts of containers and the times since when pods have been active
// (Outcomes), and the terminating pods with their grace periods (Endings).
//
// Input: the reports of workers and of the sync loop. Output: the same data for an agent that
// starts later, in files of core/state.
//
// Outcomes.Run and Endings.Run are goroutines that perform the deferred writes; their caller owns
// them. All other methods may be called from any goroutine.
package checkpoint

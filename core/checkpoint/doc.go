// Package checkpoint keeps over a restart of the agent how pods fare: how they ended, how
// often their containers were restarted, since when they have been active (Outcomes), and
// which are being ended with what grace period (Endings).
//
// Comes in: what workers and the sync loop report. Goes out: the same to an agent that
// starts later, in files of core/state.
//
// Outcomes.Run and Endings.Run are the goroutines that write what can wait; their caller
// owns them. All other methods may be called from any goroutine.
package checkpoint

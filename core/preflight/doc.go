// Package preflight is what `wardlet check` does: it finds out whether configuration, state,
// policies, runtime and sources are in order, and changes nothing.
//
// Comes in: a configuration. Goes out: findings, each with what to do. The goroutines of a
// check end with it.
package preflight

// Package preflight implements `wardlet check`: it checks configuration, state, policies, runtime
// and sources, and changes nothing.
//
// Comes in: a configuration. Goes out: findings, each with what to do. The goroutines of a check
// end with the check.
package preflight

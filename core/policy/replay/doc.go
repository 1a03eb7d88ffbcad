// Package replay makes decisions on record again: as they were, with other policies, or
// for a bundle that leaves the node; and promotes a policy in shadow by what it would have
// decided.
//
// Comes in: a configuration, a state directory or a bundle. Goes out: for each decision what
// has become of it; documents that are written. No goroutines.
package replay

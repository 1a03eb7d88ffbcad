// Package threshold parses the thresholds of node-pressure eviction.
//
// Comes in: the tables of [eviction] in agent.toml, in a kubelet's syntax. Goes out: the thresholds
// in the order in which eviction handles them, or all faults with the table and the signal of each.
// The package owns no goroutine.
package threshold

// Package agent wires every part of core and is the only one that sees them
// all.
//
// Comes in: a configuration. Goes out: a running agent. Run starts the parts
// in the order of their dependencies, so that whoever is asked is there before
// anybody asks, and stops them in the reverse order: sources first, so that
// nothing new begins, then the sync loop and the workers, which finish the
// calls under way for at most 10 s, then what they stand on. Every pod is left
// running. Where systemd started the agent it is told when that does its work, what
// it waits for, that it lives and that it ends. All goroutines of core are owned
// here, directly or through the part that was started here.
package agent

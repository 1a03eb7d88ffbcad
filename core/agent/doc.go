// Package agent wires the parts of core. No other package imports them all.
//
// Comes in: a configuration. Goes out: a running agent. An Agent (agent.go) has the parts that
// every agent has, from the documents of its sources to the containers. New connects the parts and
// takes their dependencies from Deps. A Node (node.go) is an agent on a machine. Open makes the
// Deps from the state directory, the container runtime, policies and cgroups, and adds the local
// API, metrics, the reload of agent.toml and systemd. test/simulation makes its own Deps, so it
// tests this Agent.
//
// Run starts the parts in the order of their dependencies (run.go), so that a part starts after the
// parts it uses, and stops them in the reverse order: first the sources, so that no new work
// begins, then the sync loop and the workers, which have at most 10 s to finish their runtime
// calls, then the parts below them. Every pod is left running. This package owns all goroutines of
// core, directly or through a part that it started.
package agent

// Package agent wires every part of core and is the only one that sees them all.
//
// Comes in: a configuration. Goes out: a running agent. An Agent (agent.go) is what every
// agent has, from the documents of its sources to what runs of them: New connects the parts
// and takes from Deps what they stand on. A Node (node.go) is an agent on a machine: Open
// makes the Deps from the state directory, the container runtime, policies and cgroups, and
// adds the local API, metrics, the reload of agent.toml and systemd. test/simulation makes
// Deps of its own, so that the agent it proves is this one.
//
// Run starts the parts in the order of their dependencies (run.go), so that what a part asks
// is there before it, and stops them in the reverse order: sources first, so that nothing
// new begins, then the sync loop and the workers, which finish the calls under way for at
// most 10 s, then what they stand on. Every pod is left running. All goroutines of core are
// owned here, directly or through the part that was started here.
package agent

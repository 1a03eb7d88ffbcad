// Package simulation runs the agent's life cycle engine against a runtime, sources and
// policies that are all in this process, in a bubble of testing/synctest. After every
// step it checks for states that must never occur.
//
// The sources' sinks, mux, sync loop, workers, PLEG, statuses and garbage
// collection are those of core/agent, which wires them (agent.go). They run
// on the world: documents of three sources (documents.go), policies
// and filters (policy.go), a container runtime (runtime.go), a disk (disk.go) and
// a wall clock that jumps (world.go). The world outlives the agent. The agent is
// stopped, killed in the middle of its calls, and started again on the same world.
//
// In some scripts (edit.go) pods have init containers, sidecars, ephemeral
// containers, probes, hooks and restart rules. The seed determines the results of
// probes and hooks (probes.go).
//
// A script (script.go) is made from a seed. It lists what is done to the world, and when.
// How long calls take, and how they fail, also depends on the seed. Only the order of
// what happens in one instant is left to chance, so a script that fails may
// need more than one try to fail again.
//
// Three kinds of checks apply: the rules of starting and stopping (starts.go) for
// every call of the agent; after each step, whether the status shows the results of the
// probes; and the final state when all faults are repaired and nothing more happens
// (settled.go). A script that
// fails is made shorter (script.go) and printed. Seeds that once failed are in
// regressions.txt and are played first.
//
// With the overlay of test/mutants the parts can be made to have faults, and the scripts
// must find each fault.
package simulation

// Package simulation runs the agent's life cycle engine against a runtime, sources
// and policies that are all in this process, in a bubble of testing/synctest, and
// looks after every step whether what must never be is.
//
// The sources' sinks, mux, sync loop, workers, PLEG, statuses and garbage
// collection are those of core/agent, which wires them (agent.go). What
// they stand on is the world: documents of three sources (documents.go), policies
// and filters (policy.go), a container runtime (runtime.go), a disk (disk.go) and
// a wall clock that jumps (world.go). The world outlives the agent, which is
// stopped, killed in the middle of its calls, and started again on it.
//
// In some scripts (edit.go) pods have init containers, sidecars, ephemeral
// containers, probes, hooks and restart rules; what probes and hooks find comes
// from the seed (probes.go).
//
// A script (script.go) is made from a seed: what is done to the world, and when.
// What calls take, and how they fail, comes from the seed, too. What is left to
// chance is the order of what happens in one instant, so a script that fails may
// need more than one try to fail again.
//
// What must hold is in the rules of starting and stopping (starts.go),
// which every call of the agent is checked by, in whether the status
// says what probes have found, after each step, and in what is looked for when
// everything works again and nothing more happens (settled.go). A script that
// fails is made shorter (script.go) and printed. Seeds that once failed are in
// regressions.txt and are played first.
//
// With the overlay of test/mutants the parts can be made to have faults, and each
// must be found.
package simulation

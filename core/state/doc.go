// Package state is what survives a restart: one directory, owned by one agent
// at a time, with the installation ID, the node's name, the last valid version
// of every document with what was decided about it, and which directory each
// source has read last.
//
// Comes in: records from the mux, places from sources. Goes out: what was last
// stored, and whether some of it was lost. The package owns no goroutine; Dir,
// Documents and Place are safe for concurrent use.
//
// Every file is readable JSON behind a checksum and is replaced as a whole,
// durably: after a crash or a power cut it is the old one or the new one. A
// file that is corrupt all the same is moved into quarantine/ and counts as
// missing; it never stops the agent.
package state

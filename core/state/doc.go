// Package state is what survives a restart: one directory, owned by one agent
// at a time, with the installation ID, the node's name, the last valid version
// of every document with what was decided about it, the answers to conflicts
// between sources, what policies said last of pods, how pods ended and how often
// their containers were restarted, which are terminating, and which directory each source has read last.
//
// Comes in: records from the mux, one or a batch at a time, places from
// sources. Goes out: what was last stored, and whether some of it was lost. A
// batch is written by a few goroutines that its call waits for; else the
// package owns none. Dir, Documents and Place are safe for concurrent use.
//
// Who the node is, its installation ID and its name, is kept a second time in a
// directory apart from the state, so that what runs is known when the state is
// lost. Each is made anew from the other; where they differ Open fails.
//
// Every file is readable JSON behind a checksum and is replaced as a whole,
// durably: after a crash or a power cut it is the old one or the new one. A
// file that is corrupt all the same, or is no file the agent can have written
// (a link, a pipe, one of gigabytes), is moved into quarantine/ and counts as
// missing; it never stops the agent.
//
// Decisions of policies are in package decisions; Dir.Decisions opens their log.
package state

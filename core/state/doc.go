// Package state stores the data that must survive a restart. It is in one directory, which one
// agent owns at a time: the installation ID, the node's name, the last valid version of every
// document with its verdict, the resolutions of conflicts between sources, the last opinions of
// policies about pods, the outcomes of pods and the restart counts of their containers, the
// terminating pods, and the directory that each source has read last.
//
// Input: records from the mux, one or a batch at a time, and places from sources. Output: the last
// stored values, and whether some of them were lost. A batch is written by a few goroutines, and
// its call waits for them; apart from these the package starts none. Dir, Documents and Place are
// safe for concurrent use.
//
// The node's identity, which is its installation ID and its name, is stored a second time in
// another directory, so that the agent recognizes its running pods after the state is lost. Each
// copy is rebuilt from the other. If their installation IDs differ, Open fails.
//
// Every file is readable JSON after a line with its checksum. It is replaced as a whole, durably:
// after a crash or a power cut it is the old one or the new one. A file that is nevertheless
// corrupt, or that the agent cannot have written (a link, a pipe, a file of gigabytes), is moved
// into quarantine/ and treated as missing. Such a file never stops the agent.
//
// Decisions of policies are stored by package decisions; Dir.Decisions opens their log.
package state

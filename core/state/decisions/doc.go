// Package decisions stores the decisions of policies on the disk, with all data that they depended
// on.
//
// Input: records of decisions, from the decision log of the policy engine, and the files of
// policies. Output: the newest records and, for replay, all records of a state directory or of a
// bundle. Start with Log, which an agent writes, and Archive, which reads the same files without an
// agent.
//
// There are many decisions, and the loss of one does no harm. They are lines in append-only logs,
// one log for each owner of pods, with a checksum in each line. An incomplete line is skipped;
// Archive reports it. The package starts no goroutine. Log is safe for concurrent use.
package decisions

// Package decisions keeps the decisions of policies on the disk, with all that they depended on.
//
// Comes in: records of decisions, from the decision log of the policy engine, and the files of policies. Goes
// out: the newest records, and for replay all records of a state directory or of a bundle. Start with Log,
// which an agent writes, and Archive, which reads the same files where no agent has them open.
//
// There are many decisions, and losing one does no harm. They are lines of logs that are only appended to, a log for each owner of
// pods, with a checksum in each line. A line that is not whole is passed over; Archive reports it. The package
// owns no goroutine. Log is safe for concurrent use.
package decisions

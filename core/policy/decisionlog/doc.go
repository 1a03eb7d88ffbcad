// Package decisionlog records decisions: it writes each with what it depended on to the
// disk, answers the question then, and shows the newest ones.
//
// Comes in: decisions that were made (Recording), and a store for them (Records). Goes
// out: the answers, in the order of the records; what is shown; the cost, to the budget
// of the tenant.
//
// # Goroutines
//
// Recorder.Run owns two for each owner of pods: one that collects decisions and answers
// them, and one that writes. So no owner waits for another's records. A caller of
// Recorder.Put does not wait for the disk.
//
// # Answers wait for their records
//
// A decision is answered when its record is on the disk: so nothing is in effect that is
// not recorded, and what a crash cuts off has had no effect and is decided again. Records
// that come while the disk is busy are written together. If the disk fails, or takes
// longer than 2 s, decisions are answered nevertheless, and only shown with the reason.
package decisionlog

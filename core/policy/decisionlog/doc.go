// Package decisionlog records decisions: it writes each decision with its inputs to the
// disk, then answers the question, and shows the newest decisions.
//
// Comes in: decisions that were made (Recording), and a store for them (Records). Goes out:
// the answers, in the order of the records; the decisions for display; the cost, which the
// budget of the tenant pays.
//
// # Goroutines
//
// Recorder.Run owns two for each owner of pods: one that collects decisions and answers
// them, and one that writes. So no owner waits for the records of another one. A caller of
// Recorder.Put does not wait for the disk.
//
// # Answers wait for their records
//
// A decision is answered when its record is on the disk: so no decision takes effect before
// it is recorded, and a decision that a crash cuts off is made again. Records that come
// while the disk is busy are written together. If the disk fails, or takes longer than 2 s,
// decisions are answered nevertheless. Then they are only shown, with the reason.
package decisionlog

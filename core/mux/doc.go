// Package mux merges the documents of all sources into one ordered stream of updates.
//
// Input: documents, as snapshots or differences, through the Sink of each source; verdicts of the
// Gate; answers of the Filter and of the Resolver; and calls of Release. Output: api.Update values
// on one channel; the desired set (Wanted, Seen, Sources, Pods), which every clean-up queries; the
// lists Conflicts, Suppressed and Asked; questions to the Gate, the Filter and the Resolver; and,
// to Waits, the versions that policy or a filter holds back.
//
// A version of a pod goes through four stages, each a package with its own state:
//
//   - documents has the last valid version of every document of a source, and decides which
//     document of an identity is used.
//   - conflict decides which source's document runs if several sources claim an identity.
//   - pending has the versions that wait for a verdict, and the times at which they are judged
//     again. The Gate is asked about the winner's document as the resolution changed it
//     (mutation.go). It is asked about a newer version of a running pod only after the conflict
//     is decided.
//   - hold computes for how long the filter holds back what the Gate has admitted.
//
// A slot is one identity of one source. A txn is one step: as far as the stages allow, it brings
// the sync loop's state of each dirty slot into line with the slot's documents (changes.go). A
// version that must wait is pending, per pod; all other changes pass it. A running pod is replaced
// only after its replacement is admitted, unless Config.StopDenied is set. A pod with another name
// is not a replacement: it is a removal and an addition.
//
// A verdict takes effect only after it is on the disk. The exception is Config.UpdatesOnly: then no
// verdict comes from a policy. Every step applies its results in this order: the disk, the notices,
// the sync loop, the gate, the filter and the resolver. So after a restart the mux can repeat what
// it has sent. A failed write is retried later.
//
// Policy may change the pod that it admits. The source's version is compared, judged and stored.
// The changed pod is computed from the source's version and the verdict (mutation.go). The changed
// pod is sent to the sync loop and the filter, and is the old version in questions to the gate. So
// a change of status, or a restart, results in the same pod again.
//
// A version that is held back is not lost: it is pending, like a version that waits for a verdict.
// The newest version continues, also after restarts. A change that terminates a pod cancels the
// wait.
//
// The goroutine of Run merges, receives answers and sends. It closes the channel of updates when
// Run returns. A source that delivers waits until its delivery has been merged and sent: a slow
// sync loop slows down the sources, and no delivery is dropped. Queries may come from any
// goroutine.
package mux

// Package mux merges the documents of all sources into one ordered stream of updates.
//
// Comes in: documents, as snapshots or differences, through the Sink of each source;
// verdicts of the Gate; answers of the Filter and of the Resolver; and from a person,
// what to Release.
// Goes out: api.Update values on one channel; the desired set (Wanted, Seen, Sources,
// Pods), which every clean-up asks; Conflicts, and what is Suppressed or Asked; questions
// to the Gate, the Filter and the Resolver; and, to Waits, what policy or a filter does
// not let pass.
//
// A version of a pod goes through four stages, each a package with its own state:
//
//   - documents has the last valid version of every document of a source, and says which
//     document of an identity counts.
//   - conflict decides which source's document runs, where several claim an identity.
//   - pending has the versions that wait for a verdict, and when they are judged again.
//     The Gate is asked about the winner's document as the resolution changed it (mutation.go),
//     and about a newer version of what runs only when the conflict is decided.
//   - hold says for how long the filter holds back what the Gate has admitted.
//
// A slot is one identity of one source, and a txn is one step: it brings the slots that
// are dirty from what their documents say to what the sync loop has (changes.go), as far
// as the stages let it. What must wait is pending, per pod; everything else passes it. A
// pod that runs is ended by a replacement only when that is admitted, unless
// Config.StopDenied says otherwise. A pod with another name is no replacement: it is a
// removal and an addition.
//
// A verdict counts only once it is on the disk, unless Config.UpdatesOnly says that no
// policy returns it. Every step does what follows from it in this order: the disk, the
// notices, the sync loop, the gate, the filter and the resolver. So a restart repeats
// what was handed on. What the disk does not take is written again later.
//
// Policy may make another pod of what it admits. The source's version stays what
// is compared, judged and kept; what is handed on, and shown to the filter and as
// the old version to the gate, is made of it with the verdict (mutation.go). So a
// change of status, and a restart, result in the same pod again.
//
// Nothing that is held back is lost: it is pending like what awaits a verdict, and the
// newest version goes on, also after restarts. What ends a pod cancels that.
//
// One goroutine, that of Run, merges, receives answers and sends; it closes the
// channel of updates when it ends. A source that delivers waits until its
// delivery has been merged and sent: a slow sync loop slows the sources,
// nothing is dropped. Queries may come from any goroutine.
package mux

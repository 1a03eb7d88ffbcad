// Package mux merges all sources into one ordered stream of updates and keeps
// the last valid version of every document.
//
// Comes in: documents, as snapshots or differences, through the Sink each
// source gets; verdicts, from the Gate; answers of the Filter; answers to
// conflicts, from the Resolver; and from a person, what to Release.
// Goes out: pod.Update values on one channel; the desired set (Wanted, Seen,
// Sources, Pods) that every clean-up asks, Conflicts, what is Suppressed or Asked;
// questions to the Gate, the Filter and the Resolver; and, to Waits, what policy
// or a filter does not let pass.
//
// An entry is a document, by its ID, and the pod it is or last was. The ID is a
// place in a manifest, and what stands there changes when something before it
// does: so a manifest is delivered whole, and entries trade places (claims.go)
// until each document has the pod it names, also one with a fault. Of a manifest
// that is held nothing is forgotten, and only what is sure is taken in (scope.go).
//
// Where documents of several sources claim one identity, a contest decides what
// each of their slots runs: by the rule of the node, or as the Resolver says.
// What that makes of the winner's document is what the Gate is asked about
// (base.go); a newer version of what runs is not asked about before the answer.
//
// A change that must be judged is parked, per pod, between merge and output;
// everything else passes it. A pod that runs is ended by a replacement only
// when that is admitted, unless Config.StopDenied says otherwise. A verdict
// counts only once it is on the disk, unless Config.UpdatesOnly says that no
// policy returns it; every step then does what follows from it in this order: the
// disk, the notices, the sync loop, the gate, the filter and the resolver. So a
// restart repeats what was handed on. What the disk does not take is written
// again later.
//
// Policy may make another pod of what it admits. The source's version stays what
// is compared, judged and kept; what is handed on, and shown to the filter and as
// the old version to the gate, is made of it with the verdict (final.go). So a
// change of status, and a restart, give the same again.
//
// What is admitted may be held back by the filter (suppression.go): until the
// filter lets it pass, it was held back for as long as may be, also over
// restarts, or a person releases it. What ends a pod cancels that. Nothing that
// is held back is lost: it is parked like what awaits a verdict, and it is the
// newest version that goes on.
//
// One goroutine, that of Run, merges, takes answers and sends; it closes the
// channel of updates when it ends. A source that delivers waits until its
// delivery has been merged and sent: a slow sync loop slows the sources,
// nothing is dropped. Queries may come from any goroutine.
package mux

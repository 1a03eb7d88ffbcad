// Package documents keeps, for one source, the last valid version of every document
// and which of them cannot be used.
//
// Comes in: deliveries, as snapshots or differences, and after a restart what the
// disk has. Goes out: a Result for each delivery, with what it has changed; the
// entries of each identity, of which one is First; and Problems, for people.
//
// An Entry is the last valid version of the pod of one identity. Its ID is the place
// of its document in a manifest, and what stands there changes when something before
// it does. So a manifest is delivered whole, and its documents are matched with its
// entries by identity (match.go): a document that names another pod than before is
// the removal of one pod and the addition of another. A document with a Fault keeps
// the entry of the pod that it names. Nothing is forgotten of a manifest that is
// held, and only what is certain counts (held.go).
//
// A Set has no goroutine. Its owner calls it from one at a time.
package documents

// Package documents keeps, for one source, the last valid version of every document, and the faults
// of documents that cannot be used.
//
// Input: deliveries, as snapshots or differences, and after a restart the records on the disk.
// Output: a Result for each delivery, with its changes; the entries of each identity, of which one
// is First; and Problems, for users.
//
// An Entry is the last valid version of the pod of one identity. Its ID is the position of its
// document in a manifest. The document at a position changes when a document before it is added or
// removed. So a manifest is delivered whole, and its documents are matched with its entries by
// identity (match.go): a document that names another pod than before is the removal of one pod and
// the addition of another. A document with a Fault keeps the entry of the pod that it names. While
// a manifest is held, no entry of it is removed, and only documents that certainly belong to their
// entry are used (held.go).
//
// A Set starts no goroutine. Its owner must not call it concurrently.
package documents

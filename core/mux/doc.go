// Package mux merges all sources into one ordered stream of updates and keeps
// the last valid version of every document.
//
// Comes in: documents, as snapshots or differences, through the Sink each
// source gets. Goes out: pod.Update values on one channel, and the desired
// set (Wanted, Seen, Sources) that every clean-up asks.
//
// One goroutine, that of Run, merges and sends; it closes the channel of
// updates when it ends. A source that delivers waits until its delivery has
// been merged and sent: a slow sync loop slows the sources, nothing is
// dropped. Queries may come from any goroutine.
package mux

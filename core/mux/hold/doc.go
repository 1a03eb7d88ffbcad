// Package hold says for how long a filter holds back an update that policy admits.
//
// Comes in: the newest version of the pod, and answers of the filter to questions about
// it. Goes out: whether that version passes, is to be asked about, or waits, until when,
// and what a person and the disk are told of it.
//
// A Hold outlives newer content, so that a pod that changes all the time is not held back
// for ever: its limit counts from when it began. It has no goroutine, and does not know
// the time: its owner says what time it is.
package hold

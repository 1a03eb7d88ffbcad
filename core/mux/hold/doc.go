// Package hold computes for how long a filter holds back an update that policy admits.
//
// Input: the newest version of the pod, and answers of the filter to questions about it. Output:
// whether that version passes, is to be asked about, or waits; until when it waits; and the state
// to show to users and to store on the disk.
//
// A Hold is kept when a newer version arrives: its limit counts from the time when it began, so
// that a pod that changes all the time is not held back for ever. A Hold starts no goroutine and
// reads no clock: its owner passes the time.
package hold

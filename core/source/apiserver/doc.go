// Package apiserver is the source that lists and watches the pods bound to
// this node.
//
// Comes in: the answers of a Kubernetes API server to a list and a watch of
// pods with the field selector spec.nodeName. Goes out: one document per pod,
// "namespace/name", through a source.Sink; its version is the pod's
// resourceVersion. A pod that asks for what this version does not honour is a
// bad document. Run waits for the goroutines of the list and the watch, which are
// package kube's.
//
// # What is delivered
//
// A complete list is a snapshot (Replace), every event after it a difference
// of one document (Apply). Nothing is delivered of a list that broke off, of
// one that is no list, or while the server cannot be reached: an outage ends
// nothing, it only makes Health say so. The first list of a process is read
// from the server's storage and not from a cache of it that may lag behind, so
// that a restarted agent never goes back in time. A server that returns an empty
// list has answered: its pods are gone. Only a list with none of the pods, from
// a server whose cluster is not theirs any more (it was set up anew at the same
// address), is not delivered until the agent starts again.
//
// # When the watch breaks
//
// It goes on from the last resourceVersion, which bookmarks keep new. What the
// server no longer has ("too old resource version") and what broke in the
// middle of an event is listed anew. Between attempts lies an exponential
// back-off. A sink that blocks stops the reading; a server that will not wait
// that long ends the watch, and what was not read is read again.
package apiserver

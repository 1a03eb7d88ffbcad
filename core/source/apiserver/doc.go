// Package apiserver is the source that lists and watches the pods bound to
// this node.
//
// Input: the answers of a Kubernetes API server to a list and a watch of pods with the field
// selector spec.nodeName. Output: one document per pod, "namespace/name", through a source.Sink;
// its version is the pod's resourceVersion. A pod that uses a feature which this version does not
// support is a bad document. Run waits for the goroutines of the list and the watch, which belong
// to package kube.
//
// # What is delivered
//
// A complete list is a snapshot (Replace), every event after it a difference of one document
// (Apply). Nothing is delivered from an incomplete or invalid list, or while the server cannot be
// reached: an outage terminates no pod, it is only reported through Health. The first list of a
// process is read from the server's storage and not from a cache, which may lag behind. So a
// restarted agent never goes back to older versions. An empty list is valid: the server's pods are
// gone. Only one kind of list is not delivered until the agent starts again: a list with none of
// the known pods, from a server whose cluster is no longer that of the pods (it was set up anew at
// the same address).
//
// # When the watch breaks
//
// The watch continues from the last resourceVersion, which bookmarks keep recent. The pods are
// listed again if the server no longer has that version ("too old resource version"), if it does not
// have it yet (its storage was restored from a backup), or if the watch broke in the middle of an
// event. Attempts are separated by an exponential back-off. A sink
// that blocks stops the reading. If the server then ends the watch, the events that were not read
// are read again.
package apiserver

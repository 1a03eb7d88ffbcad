// Package runtime drives a container runtime over the CRI. With criconfig below
// it, which says what sandboxes and containers are made with, it is the only
// package that knows CRI types.
//
// Comes in: what workers, pleg, images and gc ask for, in the words of
// core/pod. Goes out: CRI calls, the files a container needs (its log
// directory and link, /etc/hosts, the termination message file), observations
// and events. What does not carry this installation's mark is never listed
// and never touched.
//
// Client is the connection, Health the poll of the runtime's health, Runtime
// everything else; a few sandboxes and containers are made at a time. Health.Run
// and Runtime.WatchForeign are goroutines of the caller, and the package has no
// others; gRPC's own end with Client.Close. All methods are safe for concurrent use.
package runtime

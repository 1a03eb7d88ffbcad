// Package runtime drives a container runtime over the CRI. It is the only package that uses CRI
// types, together with its subpackage criconfig, which makes the configurations of sandboxes and
// containers.
//
// Input: requests of workers, pleg, images and gc, in the types of core/pod. Output: CRI calls, the
// files that a container needs (its log directory and link, /etc/hosts, the termination message
// file), observations and events. Objects without this installation's mark are never listed or
// changed.
//
// Client is the connection, Health polls the runtime's health, and Runtime does everything else.
// Only a few sandboxes and containers are made at a time. Health.Run and Runtime.WatchForeign run
// on goroutines of the caller, and the package has no others; gRPC's own goroutines return after
// Client.Close. All methods are safe for concurrent use.
package runtime

// Package status holds what is known of pods: what the runtime shows
// (Observed), the v1.PodStatus made from it, the store of those, and the
// event recorder.
//
// Comes in: observations and start errors from workers, rejections from the
// sync loop, and marks from admission: conditions that are laid over whatever
// else a status says. Goes out: statuses
// for the local API, later for the API server; events for the log and a buffer;
// to listeners, that one of these has changed.
// The package owns no goroutine; store and recorder are safe for concurrent
// use.
package status

// Package status holds what is known about pods: what the runtime shows (ObservedPod), the
// v1.PodStatus computed from it, the store of statuses, and the event recorder.
//
// Input: observations and start errors from workers, rejections from the sync loop, and marks from
// admission, which are conditions added to any status. Output: statuses for the local API, later
// for the API server; events for the log and a buffer; and notifications of listeners when one of
// these has changed. The package owns no goroutine; store and recorder are safe for concurrent use.
package status

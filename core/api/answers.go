package api

// PolicyOutcome is the result of an order about policies.
type PolicyOutcome struct {
	Set PolicySet `json:"set"`
	// Refused says why the order was refused, or why the content of the directory is not in force. It
	// is empty if neither applies.
	Refused string `json:"refused,omitempty"`
}

// ForeignPods is the answer of /v1/foreign.
type ForeignPods struct {
	Pods int `json:"pods"`
}

// WatchLine is a line of the answer to ?watch=true.
type WatchLine struct {
	// Type is one of the constants below.
	Type string `json:"type"`
	// Object is the object of the line; its type depends on Type.
	Object any `json:"object,omitempty"`
}

// The types of a WatchLine.
const (
	// WatchAdded, WatchModified and WatchDeleted are about one watched object, in its current or last
	// state.
	WatchAdded    = "ADDED"
	WatchModified = "MODIFIED"
	WatchDeleted  = "DELETED"
	// WatchWaiting has the whole list []pod.Waiting, as in /v1/waiting.
	WatchWaiting = "WAITING"
	// WatchBookmark means that all current data has been sent. The first one ends the list.
	WatchBookmark = "BOOKMARK"
	// WatchError is the last line: a string that says why the watch ends.
	WatchError = "ERROR"
)

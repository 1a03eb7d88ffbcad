package api

// PolicyOutcome is what came of an order.
type PolicyOutcome struct {
	Set PolicySet `json:"set"`
	// Refused says why the order was not carried out, or why the directory's
	// content is not in force; empty where it was and is.
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
	// Object is what it is about, by the type.
	Object any `json:"object,omitempty"`
}

// The types of a WatchLine.
const (
	// WatchAdded, WatchModified and WatchDeleted are about one of what is watched,
	// as it is now or was last.
	WatchAdded    = "ADDED"
	WatchModified = "MODIFIED"
	WatchDeleted  = "DELETED"
	// WatchWaiting has all []pod.Waiting, as /v1/waiting has them.
	WatchWaiting = "WAITING"
	// WatchBookmark says that all that is known by now has been told. The first is
	// the end of the list.
	WatchBookmark = "BOOKMARK"
	// WatchError is the last line: a string that says why the watch ends.
	WatchError = "ERROR"
)

package api

import "time"

// Timeline has everything known about the pods with one name: the events in their order, and the
// current state. The lists are its evidence.
type Timeline struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// At is the time of the answer.
	At time.Time `json:"at"`
	// Moments are the past events, the oldest first. Now is the current state.
	Moments []Entry `json:"moments"`
	Now     []Entry `json:"now"`

	Decisions []Decision      `json:"decisions"`
	Conflicts []Conflict      `json:"conflicts"`
	Updates   []WaitingUpdate `json:"updates"`
	Events    []Event         `json:"events"`
}

// Entry is an event in the life of a pod, or one part of its current state.
type Entry struct {
	// At is zero if the time, or the time of the beginning, is unknown.
	At time.Time `json:"at,omitzero"`
	// Part is the subject: one of the constants below.
	Part string `json:"part"`
	Text string `json:"text"`
	// Details say more, a line each.
	Details []string `json:"details,omitempty"`
	// Before means that the event was before the agent started. Only state on the disk and in the
	// runtime is known from that time.
	Before bool `json:"before,omitempty"`
}

// The subjects of entries in a timeline.
const (
	PartAgent    = "agent"
	PartSource   = "source"
	PartConflict = "conflict"
	PartAdmit    = "admit"
	PartMerge    = "merge"
	PartFilter   = "filter"
	PartWait     = "wait"
	PartEvent    = "event"
	PartRuntime  = "runtime"
	PartStatus   = "status"
)

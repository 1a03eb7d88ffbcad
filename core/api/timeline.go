package api

import "time"

// Timeline is all that is known of the pods of one name: what happened, in order, and
// how things stand. The lists are its evidence.
type Timeline struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// At is the time of the answer.
	At time.Time `json:"at"`
	// Moments are what happened, the oldest first; Now is how things stand.
	Moments []Entry `json:"moments"`
	Now     []Entry `json:"now"`

	Decisions []Decision      `json:"decisions"`
	Conflicts []Conflict      `json:"conflicts"`
	Updates   []WaitingUpdate `json:"updates"`
	Events    []Event         `json:"events"`
}

// Entry is one thing that happened to a pod, or how one thing stands.
type Entry struct {
	// At is zero where it is not known, or has lasted for a time that is not.
	At time.Time `json:"at,omitzero"`
	// Part is what it is about: one of the constants below.
	Part string `json:"part"`
	Text string `json:"text"`
	// Details say more, a line each.
	Details []string `json:"details,omitempty"`
	// Before: it was before the agent started. Of that time is known what is on the
	// disk and what the runtime shows.
	Before bool `json:"before,omitempty"`
}

// The parts that entries of a timeline are about.
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

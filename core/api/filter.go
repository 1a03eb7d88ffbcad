package api

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// FilterAnswer is what a filter says about an update.
type FilterAnswer string

// The answers. An answer that is none of them lets the update pass.
const (
	// Pass lets the update go on to the sync loop.
	Pass FilterAnswer = "pass"
	// Defer holds it back for a time; then it is offered again as it is by then.
	Defer FilterAnswer = "defer"
	// Drop holds it back until its content changes.
	Drop FilterAnswer = "drop"
)

// ReasonNotAnswered is the reason of an update that waits because the filter
// has not answered yet.
const ReasonNotAnswered = "FilterNotAnswered"

// FilterQuestion asks whether an update may go on to the sync loop now. What
// policy does not admit is never asked about.
type FilterQuestion struct {
	// Op is UpdateOp, also where Pod takes the place of another pod, Reconcile,
	// or Add where nothing runs in its place.
	Op Op
	// Pod is the newest version, Old the one the sync loop has: of this pod, or
	// of the one it would replace; nil with Add.
	Pod, Old *v1.Pod
	// Replaces is the UID of Old where it is another pod's; empty otherwise.
	Replaces types.UID
	Origin   Origin
}

// FilterVerdict is what the filters together say about an update. It is a
// value that never changes.
type FilterVerdict struct {
	Answer FilterAnswer `json:"answer"`
	// Reason is CamelCase, Message a sentence that names the policy that
	// decided; both are empty for a plain Pass.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Policy is the policy that decided, empty where none did.
	Policy string `json:"policy,omitempty"`
	// After is when a deferred update wants to be offered again; less than a
	// second counts as one.
	After time.Duration `json:"after,omitempty"`
	// Limit is how long the update may be held back, counted from when it first
	// was. Nothing is held back where it is 0 or less.
	Limit time.Duration `json:"limit,omitempty"`
	// Sets are the digests of the policy sets that were asked.
	Sets []string `json:"sets,omitempty"`
	// Opinions are those of every policy that was asked, in that order.
	Opinions []Opinion `json:"opinions,omitempty"`
	At       time.Time `json:"at"`
}

// Suppresses reports whether the update is held back.
func (v *FilterVerdict) Suppresses() bool {
	return (v.Answer == Defer || v.Answer == Drop) && v.Limit > 0
}

// The kinds of waiting updates.
const (
	// WaitHeld and WaitDenied: policy does not admit the new version. WaitUnjudged:
	// it has not answered yet.
	WaitHeld     = "Held"
	WaitDenied   = "Denied"
	WaitUnjudged = "Unjudged"
	// WaitDeferred, WaitDropped and WaitAsked: a filter holds it back, or has
	// not answered yet.
	WaitDeferred = "Deferred"
	WaitDropped  = "Dropped"
	WaitAsked    = "Asked"
)

// WaitingUpdate is a change of a pod that has not gone on to the sync loop, as
// `get updates` shows it.
type WaitingUpdate struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	UID       types.UID `json:"uid"`
	// Op is ADD, UPDATE or RECONCILE. Replaces is the UID of the pod that runs
	// on meanwhile where it is another one.
	Op       Op        `json:"operation"`
	Replaces types.UID `json:"replaces,omitempty"`
	// Wait is what it waits for; see the constants above.
	Wait    string `json:"wait"`
	Policy  string `json:"policy,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Since is when it began to wait.
	Since time.Time `json:"since,omitzero"`
	// Again is when policy or the filter is asked again, zero where only a
	// change of the document or of the policies makes it so. Until is when it
	// passes whatever a filter says, zero where it does not.
	Again time.Time `json:"again,omitzero"`
	Until time.Time `json:"until,omitzero"`

	Source   string `json:"source"`
	Document string `json:"document"`
	Version  string `json:"version"`
}

// Suppressed reports whether a filter holds the update back, not policy.
func (u *WaitingUpdate) Suppressed() bool {
	return u.Wait != WaitHeld && u.Wait != WaitDenied && u.Wait != WaitUnjudged
}

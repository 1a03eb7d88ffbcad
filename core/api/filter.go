package api

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// FilterAnswer is the answer of a filter about an update.
type FilterAnswer string

// The answers. An answer that is none of them lets the update pass.
const (
	// Pass lets the update go on to the sync loop.
	Pass FilterAnswer = "pass"
	// Defer holds the update back for a time. Then the filter is asked again about the newest version.
	Defer FilterAnswer = "defer"
	// Drop holds the update back until its content changes.
	Drop FilterAnswer = "drop"
)

// ReasonNotAnswered is the reason of an update that waits because the filter
// has not answered yet.
const ReasonNotAnswered = "FilterNotAnswered"

// FilterQuestion asks whether an update may go on to the sync loop now. There is no question about
// an update that policy does not admit.
type FilterQuestion struct {
	// Op is UpdateOp, also if Pod replaces another pod; or Reconcile; or Add if nothing runs yet.
	Op Op
	// Pod is the newest version. Old is the sync loop's version of this pod, or of the pod to replace;
	// nil with Add.
	Pod, Old *v1.Pod
	// Replaces is the UID of Old if Old is another pod; empty otherwise.
	Replaces types.UID
	Origin   Origin
}

// FilterVerdict is the combined verdict of the filters about an update. It is never modified.
type FilterVerdict struct {
	Answer FilterAnswer `json:"answer"`
	// Reason is CamelCase, Message a sentence that names the policy that
	// decided; both are empty for a plain Pass.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Policy is the policy that decided, empty for none.
	Policy string `json:"policy,omitempty"`
	// After is the delay until the filters are asked again about a deferred update; less than a second
	// is treated as one second.
	After time.Duration `json:"after,omitempty"`
	// Limit is the maximum time to hold the update back, counted from the first hold. If it is 0 or
	// less, the update is not held back.
	Limit time.Duration `json:"limit,omitempty"`
	// Sets are the digests of the policy sets that were asked.
	Sets []string `json:"sets,omitempty"`
	// Opinions are the opinions of every policy that was asked, in the order of the questions.
	Opinions []Opinion `json:"opinions,omitempty"`
	At       time.Time `json:"at"`
}

// Suppresses reports whether the update is held back.
func (v *FilterVerdict) Suppresses() bool {
	return (v.Answer == Defer || v.Answer == Drop) && v.Limit > 0
}

// The kinds of waiting updates.
const (
	// WaitHeld and WaitDenied: policy does not admit the new version. WaitUnjudged: policy has not
	// answered yet.
	WaitHeld     = "Held"
	WaitDenied   = "Denied"
	WaitUnjudged = "Unjudged"
	// WaitDeferred and WaitDropped: a filter holds the update back. WaitAsked: the filter has not
	// answered yet.
	WaitDeferred = "Deferred"
	WaitDropped  = "Dropped"
	WaitAsked    = "Asked"
)

// WaitingUpdate is a change of a pod that has not gone on to the sync loop, in the form of `get
// updates`.
type WaitingUpdate struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	UID       types.UID `json:"uid"`
	// Op is ADD, UPDATE or RECONCILE. Replaces is the UID of the pod that still runs, if it is another
	// pod.
	Op       Op        `json:"operation"`
	Replaces types.UID `json:"replaces,omitempty"`
	// Wait is the kind of waiting; see the constants above.
	Wait    string `json:"wait"`
	Policy  string `json:"policy,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Since is the time when the update began to wait.
	Since time.Time `json:"since,omitzero"`
	// Again is the time when policy or the filter is asked again. It is zero if only a change of the
	// document or of the policies leads to a new question. Until is the time from which no filter can
	// hold the update back, zero if there is none.
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

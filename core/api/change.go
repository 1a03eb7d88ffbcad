package api

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

// Op is the kind of a change of a pod, with the names of a kubelet's pod config.
type Op string

// The operations of a Change. Within one Update they have this order: RESTORE, REMOVE, ADD, UPDATE,
// DELETE, RECONCILE, EVICT. REMOVE comes before ADD because a replacement has the same full name.
const (
	// Restore adds a pod again from the checkpoint, at the start only.
	Restore Op = "RESTORE"
	// Remove terminates a pod that its source no longer has.
	Remove Op = "REMOVE"
	// Add adds a pod.
	Add Op = "ADD"
	// UpdateOp carries a change of meaningful fields.
	UpdateOp Op = "UPDATE"
	// Delete carries a deletion timestamp: the pod terminates gracefully.
	Delete Op = "DELETE"
	// Reconcile carries a change of the status only.
	Reconcile Op = "RECONCILE"
	// Evict terminates a running pod that policy no longer admits. The pod stays listed, as rejected.
	Evict Op = "EVICT"
)

// Review is the operation of a Question whether policies would admit a running pod, as it runs, if
// it were new. It changes nothing.
const Review Op = "REVIEW"

// Origin says where a pod comes from.
type Origin struct {
	// Source is the source's name.
	Source string `json:"source"`
	// Document is the document's ID within the source.
	Document string `json:"document"`
	// Version is the document's version.
	Version string `json:"version"`
	// FirstSeen is the time when the agent first saw this pod, by UID.
	FirstSeen time.Time `json:"firstSeen"`
	// Instance is the pod's Instance in the source's version if policies have changed the pod, else
	// empty.
	Instance string `json:"instance,omitempty"`
}

// Change is one change of one pod.
type Change struct {
	Op Op
	// Source is the source of the change.
	Source string
	// Old is the version that the sync loop had, nil for an ADD. New is the version that it gets, nil
	// for a REMOVE.
	Old, New *v1.Pod
	// Changed has the fields in which Old and New differ, 0 if one is nil.
	Changed pod.Fields
	// Replaces is the UID of the pod that the pod of an ADD replaces. That pod must terminate before
	// the new one starts. A RESTORE has the UID, too, if this applied before the restart. On the
	// REMOVE of a replaced pod, Replaces is the UID of the successor. It is empty without a
	// replacement. If several pods make way for one pod, its ADD names one of them. An ADD may have
	// Replaces without a matching REMOVE, which came earlier, if a source no longer has the winner of
	// a conflict.
	Replaces types.UID
	// Restored is true until the source itself has confirmed the pod.
	Restored bool
	Origin   Origin
	// Verdict is the verdict of policy on New, nil if policy was not asked. A pod with the verdict
	// Deny is passed on to report its rejection. It does not run; with EVICT it is terminated.
	Verdict *Verdict
	// Seq numbers the changes of one agent process from 1.
	Seq uint64
}

// Pod returns the pod of a change: New, or Old if New is nil.
func (c *Change) Pod() *v1.Pod {
	if c.New != nil {
		return c.New
	}
	return c.Old
}

// Update is a batch of changes from the mux to the sync loop.
type Update struct {
	// Seq numbers the updates of one agent process from 1.
	Seq uint64
	// Seen names the sources whose first snapshot is complete with this update.
	Seen    []string
	Changes []Change
}

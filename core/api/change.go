package api

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

// Op is what happened to a pod, in the words of a kubelet's pod config.
type Op string

// The operations of a Change. Within one Update they come in this order:
// RESTORE, REMOVE, ADD, UPDATE, DELETE, RECONCILE, EVICT. REMOVE comes before ADD
// because a replacement carries the same full name.
const (
	// Restore re-introduces a pod from the checkpoint, at start only.
	Restore Op = "RESTORE"
	// Remove ends a pod that its source no longer holds.
	Remove Op = "REMOVE"
	// Add introduces a pod.
	Add Op = "ADD"
	// UpdateOp carries a change of meaningful fields.
	UpdateOp Op = "UPDATE"
	// Delete carries a deletion timestamp: end gracefully.
	Delete Op = "DELETE"
	// Reconcile carries a change of the status only.
	Reconcile Op = "RECONCILE"
	// Evict ends a pod that runs because policy does not let it run any more. It
	// stays, as rejected.
	Evict Op = "EVICT"
)

// Review is what policies are asked about a pod that runs: whether they would admit
// it, as it runs, if it came now. It is no change, and changes nothing.
const Review Op = "REVIEW"

// Origin is where a pod came from.
type Origin struct {
	// Source is the source's name.
	Source string `json:"source"`
	// Document is the document's ID within the source.
	Document string `json:"document"`
	// Version is the document's version.
	Version string `json:"version"`
	// FirstSeen is when the agent first saw this pod, by UID.
	FirstSeen time.Time `json:"firstSeen"`
	// Instance is the Instance of the pod as its source has it, where policies
	// have changed it, else empty.
	Instance string `json:"instance,omitempty"`
}

// Change is one step of one pod.
type Change struct {
	Op Op
	// Source is the source the change comes from.
	Source string
	// Old is the version the sync loop had, nil for an ADD. New is the
	// version it gets, nil for a REMOVE.
	Old, New *v1.Pod
	// Changed says in what Old and New differ, 0 where one is nil.
	Changed pod.Fields
	// Replaces is the UID of the pod this ADD takes the place of, which must
	// have ended before this one starts (a RESTORE has it, too, if that was so
	// before the restart), and on the REMOVE half the UID of its
	// successor; empty where there is none. Of several that give way to one pod
	// its ADD names one. An ADD may have it where the
	// REMOVE, which came earlier, has not: where a source no longer has the
	// winner of a conflict.
	Replaces types.UID
	// Restored stays true until the source itself has confirmed the entry.
	Restored bool
	Origin   Origin
	// Verdict is what policy says of New, nil where nothing was asked. A pod
	// whose verdict is Deny is handed on so that its rejection is reported; it
	// does not run, or with EVICT is ended.
	Verdict *Verdict
	// Seq numbers the changes of one agent process from 1.
	Seq uint64
}

// Pod is the pod a change is about: New, or Old where New is nil.
func (c *Change) Pod() *v1.Pod {
	if c.New != nil {
		return c.New
	}
	return c.Old
}

// Update is what the mux hands to the sync loop at once.
type Update struct {
	// Seq numbers the updates of one agent process from 1.
	Seq uint64
	// Seen names the sources whose first snapshot this update completes.
	Seen    []string
	Changes []Change
}

package workers

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Step is the operations, in this order, between two looks at the pods.
type Step []Op

// Op is one operation. Both sides are idle before the next operation.
type Op struct {
	Do string `json:"do"`
	// UID is the pod's UID, for all operations except doKnown.
	UID types.UID `json:"uid,omitempty"`
	// Pod is the requested version, with doCreate, doUpdate, doSync and doKill.
	Pod *Version `json:"pod,omitempty"`
	// Evict, Grace and Mark are the options of doKill. Mark is the text that the status function
	// writes, empty for none.
	Evict bool   `json:"evict,omitempty"`
	Grace *int64 `json:"grace,omitempty"`
	Mark  string `json:"mark,omitempty"`
	// Call and Mode are the options of doSet: the call, and how it behaves from now on.
	Call string `json:"call,omitempty"`
	Mode string `json:"mode,omitempty"`
	// Wanted are the pods that sources have, with doKnown.
	Wanted []types.UID `json:"wanted,omitempty"`
}

// The operations.
const (
	doCreate = "create"
	doUpdate = "update"
	doSync   = "sync"
	doKill   = "kill"
	// doStray terminates a pod that only the runtime has.
	doStray = "stray"
	// doAppear makes the pod run without a request.
	doAppear = "appear"
	// doExit makes the pod's container exit by itself.
	doExit  = "exit"
	doSet   = "set"
	doKnown = "known"
)

// Version is a pod as a source has it.
type Version struct {
	// Name is the pod's; static pods may share one.
	Name   string `json:"name"`
	Static bool   `json:"static,omitempty"`
	// Never reports whether the pod terminates when its container does.
	Never bool `json:"never,omitempty"`
	// Grace is the grace period in the pod's spec, Deletion the one of its deletion, in seconds.
	Grace    *int64 `json:"own,omitempty"`
	Deletion *int64 `json:"deletion,omitempty"`
	// Deleted reports whether it has a deletion time, Ended whether its phase is terminal.
	Deleted bool `json:"deleted,omitempty"`
	Ended   bool `json:"ended,omitempty"`
}

// Object returns the version as an API object.
func (v *Version) Object(uid types.UID) *v1.Pod {
	p := &v1.Pod{}
	p.Name, p.Namespace, p.UID = v.Name, "default", uid
	if v.Static {
		p.Annotations = map[string]string{"kubernetes.io/config.source": "file"}
	}
	p.Spec.HostNetwork = true
	p.Spec.Containers = []v1.Container{{Name: "main", Image: "image"}}
	p.Spec.RestartPolicy = v1.RestartPolicyAlways
	if v.Never {
		p.Spec.RestartPolicy = v1.RestartPolicyNever
	}
	p.Spec.TerminationGracePeriodSeconds = v.Grace
	p.DeletionGracePeriodSeconds = v.Deletion
	if v.Deleted {
		p.DeletionTimestamp = &metav1.Time{Time: time.Now()}
	}
	if v.Ended {
		p.Status.Phase = v1.PodFailed
	}
	return p
}

// Seen is the state of one pod on one side, and what was done to it.
type Seen struct {
	// The answers of the workers' queries, by a kubelet's names.
	KnownTerminated, CouldRun, Finished, TerminationRequested bool
	ContainersTerminating, RuntimeRemovable, ContentRemovable bool

	// Runs reports whether its container runs, Sandbox whether its sandbox is ready.
	Runs, Sandbox bool
	// SetUp reports whether a set-up was tried since the last look at the pods.
	SetUp bool
	// Hangs names the call that has not returned, empty for none.
	Hangs string
	// Grace and Mark are those of the last attempt to stop the pod: the period in seconds, and the
	// text that the status function wrote.
	Grace int64
	Mark  string
}

// Look is the state of all pods after a step. Known is the state of every worker that the last
// doKnown of the step returned.
type Look struct {
	Pods  map[types.UID]Seen
	Known map[types.UID]string
}

// podsOf returns the pods of all steps, in order.
func podsOf(steps []Step) []types.UID {
	var uids []types.UID
	for _, s := range steps {
		for i := range s {
			if uid := s[i].UID; uid != "" && !slices.Contains(uids, uid) {
				uids = append(uids, uid)
			}
		}
	}
	slices.Sort(uids)
	return uids
}

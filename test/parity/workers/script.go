package workers

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Step is what happens until the pods are looked at again, in this order.
type Step []Op

// Op is one thing that happens. Both sides are at rest before the next.
type Op struct {
	Do string `json:"do"`
	// UID is the pod's, for all but doKnown.
	UID types.UID `json:"uid,omitempty"`
	// Pod is what is asked for with doCreate, doUpdate, doSync and doKill.
	Pod *Version `json:"pod,omitempty"`
	// Evict, Grace and Mark are what doKill says of the end; Mark is what the
	// status function writes, empty for none.
	Evict bool   `json:"evict,omitempty"`
	Grace *int64 `json:"grace,omitempty"`
	Mark  string `json:"mark,omitempty"`
	// Call and Mode say with doSet how a call goes from now on.
	Call string `json:"call,omitempty"`
	Mode string `json:"mode,omitempty"`
	// Wanted are with doKnown the pods that sources have.
	Wanted []types.UID `json:"wanted,omitempty"`
}

// What an Op can do.
const (
	doCreate = "create"
	doUpdate = "update"
	doSync   = "sync"
	doKill   = "kill"
	// doStray ends a pod as one that only the runtime knows.
	doStray = "stray"
	// doAppear makes the pod run without anybody having asked for it.
	doAppear = "appear"
	// doExit lets its container end by itself.
	doExit  = "exit"
	doSet   = "set"
	doKnown = "known"
)

// Version is a pod as a source has it.
type Version struct {
	// Name is the pod's; static pods may share one.
	Name   string `json:"name"`
	Static bool   `json:"static,omitempty"`
	// Never says that the pod has ended when its container has.
	Never bool `json:"never,omitempty"`
	// Grace is the pod's own period, Deletion that of its deletion, in seconds.
	Grace    *int64 `json:"own,omitempty"`
	Deletion *int64 `json:"deletion,omitempty"`
	// Deleted says that it has a deletion time, Ended that its phase is terminal.
	Deleted bool `json:"deleted,omitempty"`
	Ended   bool `json:"ended,omitempty"`
}

// Object is the version as an API object.
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

// Seen is what a side says of one pod, and has done to it.
type Seen struct {
	// What the queries of the workers answer, by a kubelet's names.
	KnownTerminated, CouldRun, Finished, TerminationRequested bool
	ContainersTerminating, RuntimeRemovable, ContentRemovable bool

	// Runs and Sandbox say whether its container runs and its sandbox is ready.
	Runs, Sandbox bool
	// SetUp says whether it was to be set up since the pods were last looked at.
	SetUp bool
	// Hangs names the call that does not return.
	Hangs string
	// Grace and Mark are those of the last try to stop it: the period in
	// seconds, and what the status function wrote.
	Grace int64
	Mark  string
}

// Look is how all pods are after a step. Known is the state of every worker as
// the last doKnown of the step gave it.
type Look struct {
	Pods  map[types.UID]Seen
	Known map[types.UID]string
}

// podsOf are the pods of all steps, in order.
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

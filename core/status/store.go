package status

import (
	"fmt"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// Store holds the newest status of every pod by UID, and the marks that are added to it. The
// returned statuses are shared: callers read them and never change them. It is safe for concurrent
// use.
type Store struct {
	mu sync.RWMutex
	// statuses do not include marks.
	statuses map[types.UID]v1.PodStatus
	marks    map[types.UID][]v1.PodCondition
	// onChange is called when the status of a pod may have changed.
	onChange func(uid types.UID)
}

// NewStore makes an empty store.
func NewStore() *Store {
	return &Store{statuses: map[types.UID]v1.PodStatus{}, marks: map[types.UID][]v1.PodCondition{}, onChange: func(types.UID) {}}
}

// OnChange sets the function that is called whenever the status of a pod or its marks may have
// changed. The function must not block or call the store. OnChange has to be called before the
// store is used.
func (s *Store) OnChange(changed func(uid types.UID)) { s.onChange = changed }

// Set stores a copy of st, normalised and without marks, and reports whether the stored status has
// changed. Start time and observed generation never go back. It fails, and changes nothing, if a
// container that has terminated for good would be reported as not terminated.
func (s *Store) Set(p *v1.Pod, st v1.PodStatus) (bool, error) {
	next := *st.DeepCopy()
	next.Conditions = withoutMarks(next.Conditions)
	normalize(&next)

	s.mu.Lock()
	defer s.mu.Unlock()
	old, known := s.statuses[p.UID]
	if !known {
		old = p.Status
	}
	if err := checkTransition(p, &old, &next); err != nil {
		return false, fmt.Errorf("status of pod %s/%s (uid %s) refused: %w", p.Namespace, p.Name, p.UID, err)
	}
	next.ObservedGeneration = max(old.ObservedGeneration, p.Generation)
	if !old.StartTime.IsZero() {
		next.StartTime = old.StartTime
	}
	if known && equalStatus(&old, &next) {
		return false, nil
	}
	s.statuses[p.UID] = next
	s.onChange(p.UID)
	return true, nil
}

// Adopt copies times from there, which is a status of the pod that an earlier agent may have
// written: the start time, and the transition times of conditions that have not changed. For a pod
// that has ended it also copies the address. So the reported status of a pod does not change
// because an agent starts.
func (s *Store) Adopt(uid types.UID, there *v1.PodStatus) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, known := s.statuses[uid]
	if !known {
		return
	}
	next := *old.DeepCopy()
	if !there.StartTime.IsZero() {
		next.StartTime = there.StartTime.DeepCopy()
	}
	if pod.IsTerminal(next.Phase) && next.PodIP == "" {
		next.PodIP, next.PodIPs = there.PodIP, slices.Clone(there.PodIPs)
	}
	for i := range next.Conditions {
		c := &next.Conditions[i]
		if was := api.Condition(there, c.Type); was != nil && was.Status == c.Status && !was.LastTransitionTime.IsZero() {
			c.LastTransitionTime = was.LastTransitionTime
		}
	}
	normalize(&next)
	if equality.Semantic.DeepEqual(old, next) {
		return
	}
	s.statuses[uid] = next
	s.onChange(uid)
}

// Get returns the status of a pod with its marks, false if there is none.
func (s *Store) Get(uid types.UID) (v1.PodStatus, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	st, ok := s.statuses[uid]
	if !ok {
		return v1.PodStatus{}, false
	}
	return s.withMarks(uid, st), true
}

// Delete forgets a pod, its status and its marks.
func (s *Store) Delete(uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(uid)
}

// DeleteEnded forgets a pod whose phase is Succeeded or Failed. Any other status is kept, because
// it is newer than the end of the pod that the caller has seen.
func (s *Store) DeleteEnded(uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if pod.IsTerminal(s.statuses[uid].Phase) {
		s.remove(uid)
	}
}

func (s *Store) remove(uid types.UID) {
	delete(s.statuses, uid)
	delete(s.marks, uid)
	s.onChange(uid)
}

// Snapshot returns every status by UID, with its marks, in a new map.
func (s *Store) Snapshot() map[types.UID]v1.PodStatus {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := make(map[types.UID]v1.PodStatus, len(s.statuses))
	for uid, st := range s.statuses {
		all[uid] = s.withMarks(uid, st)
	}
	return all
}

// checkTransition returns an error if a container leaves the terminated state although its policy
// forbids a restart. In a pod with policy Always any container may leave that state, because all
// may run again in a new sandbox. So may any container of a pod whose containers may all restart.
// So may a container whose restart count has increased: after a failed probe it starts again
// whatever its exit code is.
func checkTransition(p *v1.Pod, old, next *v1.PodStatus) error {
	if p.Spec.RestartPolicy == v1.RestartPolicyAlways || couldRestartAll(p) {
		return nil
	}
	for c, kind := range pod.Containers(p) {
		was, is := pod.ContainerStatus(old, c.Name), pod.ContainerStatus(next, c.Name)
		if was == nil || is == nil || was.State.Terminated == nil || is.State.Terminated != nil || is.RestartCount > was.RestartCount {
			continue
		}
		exit := was.State.Terminated.ExitCode
		again := kind == pod.InitContainer || kind == pod.RegularContainer && RunsInNewSandbox(p, c, exit)
		if again && p.Spec.RestartPolicy != v1.RestartPolicyNever {
			continue // in a new sandbox
		}
		if !Restartable(p, c, exit) {
			return fmt.Errorf("container %q has ended with exit code %d and may not run again", c.Name, exit)
		}
	}
	return nil
}

// maxMessages is the limit for all termination messages of a pod together, in bytes; each container
// has an equal share.
const maxMessages = 12 << 10

// normalize converts st to the form that the API server would return, so that equal statuses
// compare equal: times in whole seconds, containers sorted by name, messages of limited length. It
// modifies st.
func normalize(st *v1.PodStatus) {
	if st.StartTime != nil {
		truncateSeconds(st.StartTime)
	}
	for i := range st.Conditions {
		truncateSeconds(&st.Conditions[i].LastProbeTime)
		truncateSeconds(&st.Conditions[i].LastTransitionTime)
	}
	count := len(st.InitContainerStatuses) + len(st.ContainerStatuses) + len(st.EphemeralContainerStatuses)
	share := maxMessages / max(1, count)
	for c := range pod.Statuses(st) {
		normalizeState(&c.State, share)
		normalizeState(&c.LastTerminationState, share)
	}
	slices.SortFunc(st.ContainerStatuses, byName)
	slices.SortFunc(st.EphemeralContainerStatuses, byName)
}

func normalizeState(s *v1.ContainerState, maxMessage int) {
	if s.Running != nil {
		truncateSeconds(&s.Running.StartedAt)
	}
	if t := s.Terminated; t != nil {
		truncateSeconds(&t.StartedAt)
		truncateSeconds(&t.FinishedAt)
		t.Message = t.Message[:min(len(t.Message), maxMessage)]
	}
}

func truncateSeconds(t *metav1.Time) {
	if !t.IsZero() {
		t.Time = t.UTC().Truncate(time.Second)
	}
}

// equalStatus reports whether two normalised statuses are equal, ignoring the times and observed
// generations of conditions.
func equalStatus(a, b *v1.PodStatus) bool {
	return equality.Semantic.DeepEqual(withoutTimes(a), withoutTimes(b))
}

// withoutTimes returns st without what equalStatus ignores.
func withoutTimes(st *v1.PodStatus) v1.PodStatus {
	out := *st
	out.Conditions = slices.Clone(st.Conditions)
	for i := range out.Conditions {
		c := &out.Conditions[i]
		c.LastProbeTime, c.LastTransitionTime, c.ObservedGeneration = metav1.Time{}, metav1.Time{}, 0
	}
	return out
}

package status

import (
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

func set(t *testing.T, s *Store, p *v1.Pod, st v1.PodStatus) bool {
	t.Helper()
	changed, err := s.Set(p, st)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

func TestStoreDropsWhatSaysNothingNew(t *testing.T) {
	t.Parallel()
	base := v1.PodStatus{
		Phase: v1.PodRunning, StartTime: new(metav1.NewTime(noon)),
		ContainerStatuses: []v1.ContainerStatus{isRunning("b"), isRunning("a")},
		Conditions:        []v1.PodCondition{{Type: v1.PodReady, Status: "True", LastTransitionTime: metav1.NewTime(noon)}},
	}
	tests := []struct {
		name string
		edit func(st *v1.PodStatus)
		want bool
	}{
		{"the same again", func(*v1.PodStatus) {}, false},
		{"containers in another order", func(st *v1.PodStatus) {
			st.ContainerStatuses = []v1.ContainerStatus{isRunning("a"), isRunning("b")}
		}, false},
		{"a fraction of a second, in another zone", func(st *v1.PodStatus) {
			at := noon.Add(300 * time.Millisecond).In(time.FixedZone("x", 3600))
			st.ContainerStatuses[0].State.Running.StartedAt = metav1.NewTime(at)
		}, false},
		{"times of a condition", func(st *v1.PodStatus) {
			st.Conditions[0].LastTransitionTime = metav1.NewTime(noon.Add(time.Hour))
			st.Conditions[0].LastProbeTime = metav1.NewTime(noon.Add(time.Hour))
		}, false},
		{"another start time", func(st *v1.PodStatus) { st.StartTime = new(metav1.NewTime(noon.Add(time.Hour))) }, false},
		{"no start time", func(st *v1.PodStatus) { st.StartTime = nil }, false},
		{"empty instead of missing", func(st *v1.PodStatus) { st.InitContainerStatuses = []v1.ContainerStatus{} }, false},
		{"another second", func(st *v1.PodStatus) {
			st.ContainerStatuses[0].State.Running.StartedAt = metav1.NewTime(noon.Add(time.Second))
		}, true},
		{"another phase", func(st *v1.PodStatus) { st.Phase = v1.PodPending }, true},
		{"another message of a condition", func(st *v1.PodStatus) { st.Conditions[0].Message = "m" }, true},
		{"a condition of others", func(st *v1.PodStatus) {
			st.Conditions = append(st.Conditions, v1.PodCondition{Type: "example.com/Gate", Status: "True"})
		}, true},
		{"marks, which only Mark sets", func(st *v1.PodStatus) {
			st.Conditions = append(st.Conditions,
				v1.PodCondition{Type: "wardlet.dev/Admitted", Status: "True"},
				v1.PodCondition{Type: "wardlet.dev/UpdateAdmitted", Status: "True"})
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, p := NewStore(), testPod(v1.RestartPolicyAlways, "", "a", "b")
			if !set(t, s, p, base) {
				t.Fatal("the first status is no change")
			}
			next := *base.DeepCopy()
			tt.edit(&next)
			if got := set(t, s, p, next); got != tt.want {
				t.Errorf("changed = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestStoreNormalises(t *testing.T) {
	t.Parallel()
	s, p := NewStore(), testPod(v1.RestartPolicyAlways, "", "a", "b")
	long := hasEnded("b", 1)
	long.State.Terminated.Message = strings.Repeat("x", 13<<10)
	long.LastTerminationState = hasEnded("b", 1).State
	long.LastTerminationState.Terminated.Message = strings.Repeat("y", 13<<10)
	in := v1.PodStatus{
		StartTime:         new(metav1.NewTime(noon.Add(999 * time.Millisecond))),
		ContainerStatuses: []v1.ContainerStatus{long, isRunning("a")},
	}
	before := in.DeepCopy()
	set(t, s, p, in)
	if d := cmp.Diff(*before, in); d != "" {
		t.Errorf("the status passed in was changed:\n%s", d)
	}
	got, _ := s.Get("u1")
	if !got.StartTime.Time.Equal(noon) {
		t.Errorf("start time = %s, want whole seconds", got.StartTime)
	}
	if got.ContainerStatuses[0].Name != "a" {
		t.Error("containers are not sorted by name")
	}
	b := got.ContainerStatuses[1]
	if n, m := len(b.State.Terminated.Message), len(b.LastTerminationState.Terminated.Message); n != 6<<10 || m != 6<<10 {
		t.Errorf("messages have %d and %d bytes, want an equal share of 12 KiB each", n, m)
	}
}

// again returns the status of the next container of the same name.
func again(st v1.ContainerStatus) v1.ContainerStatus {
	st.RestartCount++
	return st
}

func TestStoreRefusesToRaiseTheDead(t *testing.T) {
	t.Parallel()
	const never, onFailure, always = v1.RestartPolicyNever, v1.RestartPolicyOnFailure, v1.RestartPolicyAlways
	tests := []struct {
		name      string
		policy    v1.RestartPolicy
		own       v1.ContainerRestartPolicy // empty for none
		old, next v1.ContainerStatus
		refused   bool
	}{
		{"never: ended cannot wait", never, "", hasEnded("a", 1), isWaiting("a", "x"), true},
		{"never: ended cannot run", never, "", hasEnded("a", 0), isRunning("a"), true},
		{"never: ended can be ended", never, "", hasEnded("a", 0), hasEnded("a", 1), false},
		{"never: running can end", never, "", isRunning("a"), hasEnded("a", 1), false},
		{"never: another container may run", never, "", hasEnded("x", 0), isRunning("a"), false},
		{"on failure: a failure may run again", onFailure, "", hasEnded("a", 1), isRunning("a"), false},
		{"on failure: a success may not", onFailure, "", hasEnded("a", 0), isRunning("a"), true},
		{"on failure: the next one of a success that a probe has ended may wait", onFailure, "", hasEnded("a", 0), again(isWaiting("a", "RunContainerError")), false},
		{"never: a newer one may run, as it does", never, "", hasEnded("a", 0), again(isRunning("a")), false},
		{"always: may always", always, "", hasEnded("a", 0), isWaiting("a", "x"), false},
		{"always, own never: runs again in a new sandbox", always, "Never", hasEnded("a", 0), isRunning("a"), false},
		{"always, own on failure: a kubelet refuses nothing", always, "OnFailure", hasEnded("a", 0), isRunning("a"), false},
		{"on failure, own never: a failure runs again in a new sandbox", onFailure, "Never", hasEnded("a", 1), isRunning("a"), false},
		{"on failure, own never: and so does a success", onFailure, "Never", hasEnded("a", 0), isRunning("a"), false},
		{"on failure, own always: a success may run again", onFailure, "Always", hasEnded("a", 0), isRunning("a"), false},
		{"never, own always: may run again", never, "Always", hasEnded("a", 0), isRunning("a"), false},
		{"never, own on failure: a success may not", never, "OnFailure", hasEnded("a", 0), isRunning("a"), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			old := v1.PodStatus{ContainerStatuses: []v1.ContainerStatus{tt.old}}
			next := v1.PodStatus{ContainerStatuses: []v1.ContainerStatus{tt.next}}

			stored, p := NewStore(), testPod(tt.policy, "", "a")
			if tt.own != "" {
				p.Spec.Containers[0].RestartPolicy = &tt.own
			}
			set(t, stored, p, old)
			if _, err := stored.Set(p, next); (err != nil) != tt.refused {
				t.Errorf("against the stored status: err = %v, want refused %v", err, tt.refused)
			}
			if got, _ := stored.Get("u1"); tt.refused && cmp.Diff(old.ContainerStatuses, got.ContainerStatuses) != "" {
				t.Error("a refused status was stored")
			}

			p.Status = old
			if _, err := NewStore().Set(p, next); (err != nil) != tt.refused {
				t.Errorf("against the pod's own status: err = %v, want refused %v", err, tt.refused)
			}
		})
	}
}

func TestStoreGenerationNeverDecreases(t *testing.T) {
	t.Parallel()
	s, p := NewStore(), testPod(v1.RestartPolicyAlways, "", "a")
	for _, tt := range []struct{ generation, want int64 }{{2, 2}, {5, 5}, {3, 5}} {
		p.Generation = tt.generation
		set(t, s, p, v1.PodStatus{Phase: v1.PodRunning})
		if got, _ := s.Get("u1"); got.ObservedGeneration != tt.want {
			t.Errorf("generation %d: observed %d, want %d", tt.generation, got.ObservedGeneration, tt.want)
		}
	}
}

func TestStoreForgets(t *testing.T) {
	t.Parallel()
	s, p := NewStore(), testPod(v1.RestartPolicyAlways, "", "a")
	set(t, s, p, v1.PodStatus{Phase: v1.PodRunning})
	snapshot := s.Snapshot()
	s.Delete("u1")
	if _, ok := s.Get("u1"); ok {
		t.Error("a deleted pod still has a status")
	}
	if len(s.Snapshot()) != 0 || len(snapshot) != 1 {
		t.Error("a snapshot does not show the store as it was when it was made")
	}
}

func TestStoreIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	s := NewStore()
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			p := testPod(v1.RestartPolicyAlways, "", "a")
			p.UID = types.UID(strconv.Itoa(i % 2))
			for n := range 100 {
				if _, err := s.Set(p, v1.PodStatus{Message: strconv.Itoa(n)}); err != nil {
					t.Error(err)
				}
				s.Get("0")
				s.Snapshot()
				s.Delete("1")
			}
		})
	}
	wg.Wait()
}

func TestStoreTellsOfWhatMayBeAnother(t *testing.T) {
	t.Parallel()
	p := testPod(v1.RestartPolicyAlways, "", "a")
	for name, tt := range map[string]struct {
		does func(s *Store)
		want bool
	}{
		"a new status":             {func(s *Store) { set(t, s, p, v1.PodStatus{Phase: v1.PodFailed}) }, true},
		"the same status":          {func(s *Store) { set(t, s, p, v1.PodStatus{Phase: v1.PodRunning}) }, false},
		"a mark":                   {func(s *Store) { s.SetWaiting(p.UID, v1.PodCondition{Type: api.ConditionAdmitted}) }, true},
		"a warning":                {func(s *Store) { s.SetPolicyWarning(p.UID, "R", "m", noon) }, true},
		"a pod that is forgotten":  {func(s *Store) { s.Delete(p.UID) }, true},
		"a pod that has not ended": {func(s *Store) { s.DeleteEnded(p.UID) }, false},
		"a question":               {func(s *Store) { s.Get(p.UID) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, calls := NewStore(), 0
			set(t, s, p, v1.PodStatus{Phase: v1.PodRunning})
			s.OnChange(func(types.UID) { calls++ })
			if tt.does(s); (calls > 0) != tt.want {
				t.Errorf("told %d times, want news %v", calls, tt.want)
			}
		})
	}
}

// An agent that starts does not know since when a pod has its conditions. The status that an
// earlier agent wrote to the API server has these times.
func TestStore_adopt(t *testing.T) {
	t.Parallel()
	earlier, later := metav1.NewTime(noon.Add(-time.Hour)), metav1.NewTime(noon)
	p := testPod(v1.RestartPolicyAlways, "api", "a")
	own := v1.PodStatus{Phase: v1.PodRunning, StartTime: &later, Conditions: []v1.PodCondition{
		{Type: v1.PodReady, Status: v1.ConditionTrue, LastTransitionTime: later},
		{Type: v1.PodInitialized, Status: v1.ConditionTrue, LastTransitionTime: later},
		{Type: v1.PodScheduled, Status: v1.ConditionTrue, LastTransitionTime: later},
	}}
	there := &v1.PodStatus{StartTime: &earlier, Conditions: []v1.PodCondition{
		{Type: v1.PodReady, Status: v1.ConditionFalse, LastTransitionTime: earlier},
		{Type: v1.PodInitialized, Status: v1.ConditionTrue, LastTransitionTime: earlier},
	}}
	s := NewStore()
	s.Adopt(p.UID, there)
	if _, ok := s.Get(p.UID); ok {
		t.Error("a pod without a status has one")
	}
	if _, err := s.Set(p, own); err != nil {
		t.Fatal(err)
	}
	s.Adopt(p.UID, there)
	got, _ := s.Get(p.UID)
	want := map[v1.PodConditionType]metav1.Time{v1.PodReady: later, v1.PodInitialized: earlier, v1.PodScheduled: later}
	times := map[v1.PodConditionType]metav1.Time{}
	for _, c := range got.Conditions {
		times[c.Type] = c.LastTransitionTime
	}
	if d := cmp.Diff(want, times); d != "" {
		t.Errorf("conditions (-want +got):\n%s", d)
	}
	if !got.StartTime.Equal(&earlier) {
		t.Errorf("started at %s", got.StartTime)
	}
}

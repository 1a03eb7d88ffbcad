package gate

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pleg"
	"github.com/wardlet/wardlet/core/status"
)

// nowhere is a recorder that discards events.
type nowhere struct{}

func (nowhere) Event(*v1.Pod, string, string, string) {}

func TestAHeldPodThatRunsOnUntouchedIsShownAsItRuns(t *testing.T) {
	t.Parallel()
	created := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	runs := status.ObservedContainer{ID: "c1", Name: "c", State: status.StateRunning, Attempt: 2, StartedAt: created.Add(time.Minute), Image: "other", SandboxID: "s1"}
	ended := runs
	ended.State, ended.ExitCode, ended.Reason, ended.FinishedAt = status.StateExited, 3, "Error", created.Add(time.Hour)
	for name, test := range map[string]struct {
		container status.ObservedContainer
		// passed: policy lets the pod pass. kept: the agent forgot nothing. gone: the
		// runtime has nothing of it any more.
		passed, kept, gone bool
		phase              v1.PodPhase
		want               *v1.ContainerState
		ready              bool
	}{
		"it runs": {container: runs, phase: v1.PodRunning, ready: true, want: &v1.ContainerState{
			Running: &v1.ContainerStateRunning{StartedAt: metav1.NewTime(runs.StartedAt)},
		}},
		"its container has ended": {container: ended, phase: v1.PodRunning, want: &v1.ContainerState{
			Terminated: &v1.ContainerStateTerminated{
				ExitCode: 3, Reason: "Error", StartedAt: metav1.NewTime(runs.StartedAt), FinishedAt: metav1.NewTime(ended.FinishedAt), ContainerID: "containerd://c1",
			},
		}},
		"nothing of it runs any more":              {container: runs, gone: true, phase: v1.PodPending},
		"nothing was forgotten, so a worker knows": {container: runs, kept: true, phase: v1.PodPending},
		"it is not held":                           {container: runs, passed: true, phase: v1.PodPending},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := adoptee("u1", "h1")
			p.Spec.Containers = []v1.Container{{Name: "c", Image: "img"}}
			seen := observed(t, p, true)
			seen.Sandboxes[0].ID, seen.Sandboxes[0].CreatedAt, seen.Containers = "s1", created, []status.ObservedContainer{test.container}
			r := &running{list: []status.ObservedPod{seen}, at: created}
			statuses, cache := status.NewStore(), pleg.NewCache()
			a := &Adoption{Gate: &denying{}, Runtime: r, Lost: func() bool { return !test.kept }, Log: slog.New(slog.DiscardHandler)}
			a.look()
			if cache.Set(seen, created); test.gone {
				r.list = nil
			}
			waits := admission.NewWaits(statuses, nowhere{}, func() time.Time { return created })
			waits.Waits(api.Waiting{Pod: p, Verdict: api.Verdict{Answer: api.Hold, Reason: api.ReasonAdopted, Message: "it runs on"}})
			if test.passed {
				waits.Passed(p.UID)
			}
			shown := func() v1.PodStatus {
				stored, _ := statuses.Get(p.UID)
				return a.Shown(p, stored, func(uid types.UID) status.ObservedPod {
					last, _ := cache.Get(uid)
					return last
				})
			}
			st := shown()
			if st.Phase != test.phase || (api.Condition(&st, api.ConditionAdmitted) == nil) != test.passed {
				t.Errorf("status %+v", st)
			}
			if test.want == nil {
				if len(st.ContainerStatuses) > 0 {
					t.Errorf("containers %+v", st.ContainerStatuses)
				}
				return
			}
			if !st.StartTime.Time.Equal(created) || len(st.ContainerStatuses) != 1 || st.ContainerStatuses[0].Ready != test.ready ||
				(api.Condition(&st, v1.PodReady).Status == v1.ConditionTrue) != test.ready || st.ContainerStatuses[0].RestartCount != 2 {
				t.Errorf("status %+v", st)
			}
			if diff := cmp.Diff(*test.want, st.ContainerStatuses[0].State); diff != "" {
				t.Errorf("container (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(st, shown()); diff != "" {
				t.Errorf("a second look gives another status (-first +second):\n%s", diff)
			}
		})
	}
}

func TestAnAgentWithoutPoliciesHasNoPodsThatRunOnUntouched(t *testing.T) {
	t.Parallel()
	var none *Adoption
	if none.Untouched("u1") {
		t.Error("it says that it has")
	}
}

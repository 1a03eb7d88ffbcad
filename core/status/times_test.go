package status

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestTheTimesOfAPodThatRanBeforeTheAgentAreTheRuntimes(t *testing.T) {
	t.Parallel()
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	sandbox := func(made time.Time, ready bool) ObservedSandbox {
		return ObservedSandbox{Ready: ready, CreatedAt: made, IPs: []string{"10.0.0.9"}}
	}
	runs := func(name string, since time.Time) ObservedContainer {
		o := instance(name, 0, StateRunning, 0)
		o.StartedAt = since
		return o
	}
	// times are those of the start and of the conditions Scheduled, Initialized,
	// ReadyToStartContainers, ContainersReady and Ready, in minutes.
	type times [6]int
	const now = 60
	for name, tc := range map[string]struct {
		sandboxes  []ObservedSandbox
		containers []ObservedContainer
		previous   v1.PodStatus
		want       times
	}{
		"one that runs": {
			[]ObservedSandbox{sandbox(at(5), true)},
			[]ObservedContainer{runs("a", at(7)), runs("b", at(9))},
			v1.PodStatus{},
			times{5, 5, 5, 5, 9, 9},
		},
		"one that has had another sandbox": {
			[]ObservedSandbox{sandbox(at(20), true), sandbox(at(5), false)},
			[]ObservedContainer{runs("a", at(21)), runs("b", at(22))},
			v1.PodStatus{},
			times{5, 5, 5, 20, 22, 22},
		},
		"one that is shown as pending": {
			[]ObservedSandbox{sandbox(at(5), true)},
			[]ObservedContainer{runs("a", at(7)), runs("b", at(9))},
			v1.PodStatus{Phase: v1.PodPending},
			times{5, 5, 5, 5, 9, 9},
		},
		"one of which it is known when it began": {
			[]ObservedSandbox{sandbox(at(5), true)},
			[]ObservedContainer{runs("a", at(7)), runs("b", at(9))},
			v1.PodStatus{Phase: v1.PodPending, StartTime: new(metav1.NewTime(at(4)))},
			times{4, 4, 4, 5, 9, 9},
		},
		"one that is not ready": {
			[]ObservedSandbox{sandbox(at(5), true)},
			[]ObservedContainer{runs("a", at(7))},
			v1.PodStatus{},
			times{5, 5, 5, 5, now, now},
		},
		"one that is from the future, for the clock was set": {
			[]ObservedSandbox{sandbox(at(70), true)},
			[]ObservedContainer{runs("a", at(71)), runs("b", at(72))},
			v1.PodStatus{},
			times{now, now, now, now, now, now},
		},
		"one of which the runtime knows no times": {
			[]ObservedSandbox{sandbox(time.Time{}, true)},
			[]ObservedContainer{runs("a", time.Time{}), runs("b", time.Time{})},
			v1.PodStatus{},
			times{now, now, now, now, now, now},
		},
		"not what an earlier pod of its UID has left": {
			[]ObservedSandbox{sandbox(at(5), false)},
			[]ObservedContainer{instance("a", 0, StateExited, 0)},
			v1.PodStatus{},
			times{now, now, now, now, now, now},
		},
		"nothing of it": {nil, nil, v1.PodStatus{}, times{now, now, now, now, now, now}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := Generate(Input{
				Pod: testPod(v1.RestartPolicyAlways, "file", "a", "b"), Now: at(now), Previous: tc.previous,
				Observed: ObservedPod{Sandboxes: tc.sandboxes, Containers: tc.containers},
			})
			minutes := func(of metav1.Time) int { return int(of.Sub(noon).Minutes()) }
			got := times{minutes(*st.StartTime)}
			for i, kind := range []v1.PodConditionType{v1.PodScheduled, v1.PodInitialized, v1.PodReadyToStartContainers, v1.ContainersReady, v1.PodReady} {
				got[i+1] = minutes(Condition(&st, kind).LastTransitionTime)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

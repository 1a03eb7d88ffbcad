package status

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
)

func TestGenerate(t *testing.T) {
	t.Parallel()
	p := testPod(v1.RestartPolicyAlways, "file", "a")
	p.Generation = 4
	got := Generate(Input{
		Pod: p, Observed: observed(instance("a", 0, StateRunning, 0)), Now: noon, RuntimeName: "containerd",
	})
	got.Conditions = nil // the conditions have their own test
	want := v1.PodStatus{
		ObservedGeneration: 4,
		Phase:              v1.PodRunning,
		QOSClass:           v1.PodQOSBestEffort,
		StartTime:          new(metav1.NewTime(noon)),
		PodIP:              "10.0.0.9",
		PodIPs:             []v1.PodIP{{IP: "10.0.0.9"}},
		ContainerStatuses: []v1.ContainerStatus{{
			Name: "a", Image: "img:1", ImageID: "sha256:1", ContainerID: "containerd://a-0",
			State: v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: metav1.NewTime(noon)}},
			Ready: true, Started: new(true),
		}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("status (-want +got):\n%s", d)
	}
}

func TestGenerateSettlesThePhase(t *testing.T) {
	t.Parallel()
	runs := observed(instance("a", 0, StateRunning, 0))
	evicted := v1.PodStatus{Phase: v1.PodFailed, Reason: "Evicted", Message: "low on memory"}
	tests := []struct {
		name          string
		previous, api v1.PodStatus
		observed      ObservedPod
		want          v1.PodStatus
	}{
		{"a terminal phase cannot be left", evicted, v1.PodStatus{}, runs, evicted},
		{"the API server's terminal phase wins", v1.PodStatus{Phase: v1.PodSucceeded}, evicted, runs, evicted},
		{"without a stored status the API server's counts", v1.PodStatus{}, evicted, runs, evicted},
		{
			"running can go back to pending",
			v1.PodStatus{Phase: v1.PodRunning, Reason: "R"},
			v1.PodStatus{},
			ObservedPod{},
			v1.PodStatus{Phase: v1.PodPending},
		},
		{
			"reason and message stay while the phase does",
			v1.PodStatus{Phase: v1.PodRunning, Reason: "R", Message: "m"},
			v1.PodStatus{Phase: v1.PodRunning, Reason: "other"},
			runs,
			v1.PodStatus{Phase: v1.PodRunning, Reason: "R", Message: "m"},
		},
		{
			"reason and message are taken from the API server's when the store has none",
			v1.PodStatus{Phase: v1.PodRunning},
			v1.PodStatus{Phase: v1.PodRunning, Reason: "R", Message: "m"},
			runs,
			v1.PodStatus{Phase: v1.PodRunning, Reason: "R", Message: "m"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := testPod(v1.RestartPolicyAlways, "", "a")
			p.Status = tt.api
			got := Generate(Input{Pod: p, Observed: tt.observed, Previous: tt.previous, Now: noon})
			if d := cmp.Diff(tt.want, v1.PodStatus{Phase: got.Phase, Reason: got.Reason, Message: got.Message}); d != "" {
				t.Errorf("phase (-want +got):\n%s", d)
			}
		})
	}
}

func TestAPodThatFailedForAReasonHasFailed(t *testing.T) {
	t.Parallel()
	late := Reason{Reason: "DeadlineExceeded", Message: "too long"}
	failed := v1.PodStatus{Phase: v1.PodFailed, Reason: late.Reason, Message: late.Message}
	succeeded := v1.PodStatus{Phase: v1.PodSucceeded, Reason: "R", Message: "m"}
	for _, tt := range []struct {
		name          string
		policy        v1.RestartPolicy
		previous, api v1.PodStatus
		container     ObservedContainer
		want          v1.PodStatus
	}{
		{"while it still runs", v1.RestartPolicyAlways, v1.PodStatus{Phase: v1.PodRunning, Reason: "R"}, v1.PodStatus{}, instance("a", 0, StateRunning, 0), failed},
		{"though its containers succeeded", v1.RestartPolicyNever, v1.PodStatus{}, v1.PodStatus{}, instance("a", 0, StateExited, 0), failed},
		{"whatever was said before", v1.RestartPolicyNever, succeeded, v1.PodStatus{}, instance("a", 0, StateExited, 0), failed},
		{"unless the API server knows of another end", v1.RestartPolicyNever, v1.PodStatus{}, succeeded, instance("a", 0, StateExited, 0), succeeded},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := testPod(tt.policy, "file", "a")
			p.Status = tt.api
			got := Generate(Input{
				Pod: p, Observed: observed(tt.container), Previous: tt.previous, Terminating: true, Failure: &late, Now: noon,
			})
			if d := cmp.Diff(tt.want, v1.PodStatus{Phase: got.Phase, Reason: got.Reason, Message: got.Message}); d != "" {
				t.Errorf("phase (-want +got):\n%s", d)
			}
			want := reasonPodFailed
			if tt.want.Phase == v1.PodSucceeded {
				want = reasonPodCompleted
			}
			if c := api.Condition(&got, v1.PodReady); c.Status != v1.ConditionFalse || c.Reason != want {
				t.Errorf("condition Ready is %+v", c)
			}
		})
	}
}

func TestGenerateGoesOnFromThePodsOwnStatus(t *testing.T) {
	t.Parallel()
	p := testPod(v1.RestartPolicyAlways, "", "a")
	p.Status = v1.PodStatus{Phase: v1.PodRunning, ContainerStatuses: []v1.ContainerStatus{waitsAfter("a", 1)}}
	p.Status.ContainerStatuses[0].RestartCount = 3
	if got := Generate(Input{Pod: p, Now: noon}).ContainerStatuses[0]; got.RestartCount != 3 {
		t.Errorf("restarts = %d, want 3", got.RestartCount)
	}
	stored := v1.PodStatus{Phase: v1.PodPending}
	if got := Generate(Input{Pod: p, Previous: stored, Now: noon}).ContainerStatuses[0]; got.RestartCount != 0 {
		t.Errorf("restarts = %d although the store says otherwise", got.RestartCount)
	}
}

func TestGenerateKeepsTheStartTime(t *testing.T) {
	t.Parallel()
	p := testPod(v1.RestartPolicyAlways, "", "a")
	first := Generate(Input{Pod: p, Now: noon})
	second := Generate(Input{Pod: p, Previous: first, Now: noon.Add(time.Hour)})
	if !second.StartTime.Time.Equal(noon) {
		t.Errorf("start time = %s, want %s", second.StartTime, noon)
	}
}

func TestGenerateChangesNoInput(t *testing.T) {
	t.Parallel()
	p := testPod(v1.RestartPolicyAlways, "", "b", "a")
	p.Status.Conditions = []v1.PodCondition{{Type: "x", Status: "True"}}
	in := Input{
		Pod: p, Now: noon, Observed: observed(instance("a", 1, StateExited, 1), instance("a", 0, StateExited, 1)),
		Previous: v1.PodStatus{
			Phase: v1.PodRunning, ContainerStatuses: []v1.ContainerStatus{hasEnded("b", 0), isRunning("a")},
			Conditions: []v1.PodCondition{{Type: v1.PodReady, Status: "True"}},
		},
		Reasons: map[string]Reason{"a": {Reason: "CrashLoopBackOff"}, "b": {Reason: "CrashLoopBackOff"}},
	}
	pod, previous, seen := in.Pod.DeepCopy(), *in.Previous.DeepCopy(), observed(in.Observed.Containers...)
	Generate(in)
	if d := cmp.Diff(pod, in.Pod) + cmp.Diff(previous, in.Previous) + cmp.Diff(seen, in.Observed); d != "" {
		t.Errorf("input was changed (-before +after):\n%s", d)
	}
}

func TestGenerateAddresses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name                        string
		hostNetwork                 bool
		observed, previous, hostIPs []string
		want, wantHost              []string
	}{
		{"one address", false, []string{"10.0.0.1"}, nil, nil, []string{"10.0.0.1"}, nil},
		{"at most one per family", false, []string{"10.0.0.1", "10.0.0.2", "fd00::1", "fd00::2"}, nil, nil, []string{"10.0.0.1", "fd00::1"}, nil},
		{"IPv4 first when nothing is known of the node", false, []string{"fd00::1", "10.0.0.1"}, nil, nil, []string{"10.0.0.1", "fd00::1"}, nil},
		{
			"the node's primary family first", false,
			[]string{"10.0.0.1", "fd00::1"},
			nil,
			[]string{"fd99::1", "192.0.2.1"},
			[]string{"fd00::1", "10.0.0.1"},
			[]string{"fd99::1", "192.0.2.1"},
		},
		{"the other family is better than none", false, []string{"fd00::1"}, nil, nil, []string{"fd00::1"}, nil},
		{"none", false, nil, []string{"10.0.0.1"}, nil, nil, nil},
		{"host network has the node's", true, nil, nil, []string{"192.0.2.1"}, []string{"192.0.2.1"}, []string{"192.0.2.1"}},
		{"host network keeps what it had", true, nil, []string{"192.0.2.7"}, []string{"192.0.2.1"}, []string{"192.0.2.7"}, []string{"192.0.2.1"}},
		{
			"host network gains a second family, behind the first", true, nil,
			[]string{"fd99::7"},
			[]string{"192.0.2.1", "fd99::1"},
			[]string{"fd99::7", "192.0.2.1"},
			[]string{"192.0.2.1", "fd99::1"},
		},
		{"host network without an API client has none", true, nil, nil, nil, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := testPod(v1.RestartPolicyAlways, "", "a")
			p.Spec.HostNetwork = tt.hostNetwork
			previous := v1.PodStatus{Phase: v1.PodRunning}
			for _, ip := range tt.previous {
				previous.PodIPs = append(previous.PodIPs, v1.PodIP{IP: ip})
			}
			st := Generate(Input{Pod: p, Observed: ObservedPod{IPs: tt.observed}, Previous: previous, HostIPs: tt.hostIPs, Now: noon})
			var got, gotHost []string
			for _, ip := range st.PodIPs {
				got = append(got, ip.IP)
			}
			for _, ip := range st.HostIPs {
				gotHost = append(gotHost, ip.IP)
			}
			if d := cmp.Diff(tt.want, got) + cmp.Diff(tt.wantHost, gotHost); d != "" {
				t.Errorf("addresses (-want +got):\n%s", d)
			}
			if len(got) > 0 && st.PodIP != got[0] || len(gotHost) > 0 && st.HostIP != gotHost[0] {
				t.Errorf("podIP %q and hostIP %q are not the first of %v and %v", st.PodIP, st.HostIP, got, gotHost)
			}
		})
	}
}

// The start time is the time at which this agent first saw the pod, as with a kubelet.
func TestTheTransitionTimesOfAPodThatRanBeforeTheAgentAreTheRuntimes(t *testing.T) {
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
	// times has the minutes of the start and of the conditions Scheduled, Initialized,
	// ReadyToStartContainers, ContainersReady and Ready.
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
			times{now, 5, 5, 5, 9, 9},
		},
		"one that has had another sandbox": {
			[]ObservedSandbox{sandbox(at(20), true), sandbox(at(5), false)},
			[]ObservedContainer{runs("a", at(21)), runs("b", at(22))},
			v1.PodStatus{},
			times{now, 5, 5, 20, 22, 22},
		},
		"one that is shown as pending": {
			[]ObservedSandbox{sandbox(at(5), true)},
			[]ObservedContainer{runs("a", at(7)), runs("b", at(9))},
			v1.PodStatus{Phase: v1.PodPending},
			times{now, 5, 5, 5, 9, 9},
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
			times{now, 5, 5, 5, now, now},
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
				got[i+1] = minutes(api.Condition(&st, kind).LastTransitionTime)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestFinish(t *testing.T) {
	t.Parallel()
	killed := func(name string) v1.ContainerStatus {
		return v1.ContainerStatus{Name: name, State: unknownTermination(), Started: new(false)}
	}
	type statuses = []v1.ContainerStatus
	tests := []struct {
		name         string
		source       string
		init         v1.ConditionStatus // of a pod with init containers
		phase        v1.PodPhase
		statuses     statuses
		want         v1.PodPhase
		wantStatuses statuses
	}{
		{"a running pod has failed, what was not seen to end was killed", "", "", v1.PodRunning, statuses{ready(isRunning("a")), hasEnded("b", 0)}, v1.PodFailed, statuses{killed("a"), hasEnded("b", 0)}},
		{"a pending pod has failed", "api", "", v1.PodPending, statuses{isWaiting("a", "ErrImagePull")}, v1.PodFailed, statuses{killed("a")}},
		{"a pod without a phase has failed", "", "", "", nil, v1.PodFailed, nil},
		{"success stays", "", "", v1.PodSucceeded, statuses{hasEnded("a", 0)}, v1.PodSucceeded, statuses{hasEnded("a", 0)}},
		{"failure stays", "", "", v1.PodFailed, statuses{hasEnded("a", 3)}, v1.PodFailed, statuses{hasEnded("a", 3)}},
		{"a static pod keeps its phase", "file", "", v1.PodRunning, statuses{isRunning("a")}, v1.PodRunning, statuses{killed("a")}},
		{"before initialisation containers stay as they are", "", "False", v1.PodPending, statuses{isWaiting("a", "PodInitializing")}, v1.PodFailed, statuses{isWaiting("a", "PodInitializing")}},
		{"after initialisation they do not", "", "True", v1.PodRunning, statuses{isWaiting("a", "PodInitializing")}, v1.PodFailed, statuses{killed("a")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := testPod(v1.RestartPolicyAlways, tt.source, "a", "b")
			st := v1.PodStatus{Phase: tt.phase, ContainerStatuses: tt.statuses}
			if tt.init != "" {
				p.Spec.InitContainers = make([]v1.Container, 1)
				st.Conditions = []v1.PodCondition{{Type: v1.PodInitialized, Status: tt.init}}
			}
			before := st.DeepCopy()
			got := Finish(p, st)
			if got.Phase != tt.want {
				t.Errorf("phase = %s, want %s", got.Phase, tt.want)
			}
			if d := cmp.Diff(tt.wantStatuses, got.ContainerStatuses); d != "" {
				t.Errorf("containers (-want +got):\n%s", d)
			}
			if d := cmp.Diff(*before, st); d != "" {
				t.Errorf("the status passed in was changed:\n%s", d)
			}
		})
	}
}

package status

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// testPod returns a pod of a source, with one container per name. An empty source stands for none.
func testPod(policy v1.RestartPolicy, source string, containers ...string) *v1.Pod {
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "u1", Generation: 1}}
	p.Spec.RestartPolicy = policy
	if source != "" {
		p.Annotations = map[string]string{"kubernetes.io/config.source": source}
	}
	for _, name := range containers {
		p.Spec.Containers = append(p.Spec.Containers, v1.Container{Name: name, Image: "img"})
	}
	return p
}

func isRunning(name string) v1.ContainerStatus {
	return v1.ContainerStatus{Name: name, State: v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: metav1.NewTime(noon)}}}
}

func isWaiting(name, reason string) v1.ContainerStatus {
	return v1.ContainerStatus{Name: name, State: v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: reason}}}
}

func hasEnded(name string, exit int32) v1.ContainerStatus {
	return v1.ContainerStatus{Name: name, State: v1.ContainerState{Terminated: &v1.ContainerStateTerminated{ExitCode: exit}}}
}

// waitsAfter returns the status of a container that waits for its restart after it exited with
// exit.
func waitsAfter(name string, exit int32) v1.ContainerStatus {
	st := isWaiting(name, "CrashLoopBackOff")
	st.LastTerminationState = hasEnded(name, exit).State
	return st
}

// observed returns a pod with a ready sandbox and these containers.
func observed(containers ...ObservedContainer) ObservedPod {
	return ObservedPod{
		UID:        "u1",
		Sandboxes:  []ObservedSandbox{{ID: "s0", Ready: true, IPs: []string{"10.0.0.9"}}},
		Containers: containers,
		IPs:        []string{"10.0.0.9"},
	}
}

// instance returns a container of the runtime. Its ID is "<name>-<attempt>".
func instance(name string, attempt uint32, state ContainerState, exit int32) ObservedContainer {
	o := ObservedContainer{
		ID: name + "-" + string(rune('0'+attempt)), Name: name, Attempt: attempt, State: state,
		Image: "img:1", ImageRef: "sha256:1", ExitCode: exit,
	}
	if state == StateRunning || state == StateExited {
		o.StartedAt = noon
	}
	if state == StateExited {
		o.FinishedAt, o.Reason = noon.Add(time.Minute), "Error"
	}
	return o
}

func TestObservedPod(t *testing.T) {
	t.Parallel()
	p := observed(instance("a", 1, StateExited, 0), instance("b", 0, StateRunning, 0), instance("a", 0, StateExited, 0))
	p.Sandboxes[0].Annotations = map[string]string{"kubernetes.io/config.source": "file"}
	if !p.Running() || !p.Active() || p.Source() != "file" {
		t.Errorf("running %v, active %v, source %q", p.Running(), p.Active(), p.Source())
	}
	if a := p.Newest("a"); a == nil || a.ID != "a-1" {
		t.Errorf("newest a = %+v", a)
	}
	if c := p.Newest("c"); c != nil {
		t.Errorf("newest of a name that is not there = %+v", c)
	}
	p.Containers = p.Containers[:1]
	if p.Running() || !p.Active() {
		t.Error("a ready sandbox alone is active, not running")
	}
	p.Sandboxes[0].Ready = false
	if p.Active() {
		t.Error("nothing of it is up, and it is active")
	}
	if p = (ObservedPod{}); p.Source() != "" {
		t.Errorf("without a sandbox the source is %q", p.Source())
	}
}

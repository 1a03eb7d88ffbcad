package worker

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/status"
)

// tend is what a sync loop does for d: every second it asks for what is due.
func tend(b *bench, p *v1.Pod, d time.Duration) {
	for range d / time.Second {
		time.Sleep(time.Second)
		if slices.Contains(b.pool.Due(), p.UID) {
			b.sync(p)
		}
		synctest.Wait()
	}
}

func TestAPodThatLosesItsSandboxHalfStartedEndsOrGoesOn(t *testing.T) {
	t.Parallel()
	const (
		never     = v1.RestartPolicyNever
		onFailure = v1.RestartPolicyOnFailure
	)
	exits := func(code int32) func(*status.ObservedPod) {
		return func(o *status.ObservedPod) {
			o.Containers[0].State, o.Containers[0].ExitCode = status.StateExited, code
		}
	}
	for name, tc := range map[string]struct {
		policy v1.RestartPolicy
		fails  string // what cannot be done before the sandbox is lost
		lost   func(*status.ObservedPod)
		stop   int32 // what containers end with that are stopped
		want   v1.PodPhase
		reason string
	}{
		"under Never it has failed where a container was never made":       {never, "start job/b", exits(255), 0, v1.PodFailed, reasonSandboxLost},
		"also where the other one has succeeded":                           {never, "start job/b", exits(0), 0, v1.PodFailed, reasonSandboxLost},
		"also where the other one runs on without it, and has to be ended": {never, "start job/b", func(*status.ObservedPod) {}, 0, v1.PodFailed, reasonSandboxLost},
		"under Never it has failed where a container was made and never started": {never, "start job/b", func(o *status.ObservedPod) {
			exits(0)(o)
			o.Containers = append(o.Containers, status.ObservedContainer{ID: "x", Name: "b", State: status.StateCreated})
		}, 0, v1.PodFailed, reasonSandboxLost},
		"under Never it has failed where nobody knows what a container does": {never, "none", func(o *status.ObservedPod) {
			exits(0)(o)
			o.Containers[1].State = status.StateUnknown
		}, 0, v1.PodFailed, reasonSandboxLost},
		"under Never it goes on where nothing was made": {never, "start job/", func(*status.ObservedPod) {}, 0, v1.PodRunning, ""},
		"under Never its containers say how it ended where all had started": {never, "none", func(o *status.ObservedPod) {
			exits(0)(o)
		}, 0, v1.PodSucceeded, ""},
		"also if that is as failed":                                         {never, "none", exits(1), 0, v1.PodFailed, ""},
		"under OnFailure what has not succeeded goes on in another sandbox": {onFailure, "start job/b", exits(0), 0, v1.PodRunning, ""},
		"under OnFailure what was made and never started goes on": {onFailure, "start job/b", func(o *status.ObservedPod) {
			exits(0)(o)
			o.Containers = append(o.Containers, status.ObservedContainer{ID: "x", Name: "b", State: status.StateCreated})
		}, 0, v1.PodRunning, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				remembering(b)
				p := newPod("job", "1", "a", "b")
				p.Spec.RestartPolicy = tc.policy
				b.stopCode = tc.stop
				b.fail[tc.fails] = &status.Fault{Reason: "ErrImagePull", Err: errBroken}
				b.create(p)
				synctest.Wait()
				b.mu.Lock()
				clear(b.fail)
				b.mu.Unlock()
				b.change("1", func(o *status.ObservedPod) {
					o.Sandboxes[0].Ready = false
					tc.lost(o)
				})
				tend(b, p, 3*time.Minute)
				expectEnd(t, b, tc.want, tc.reason)
				if b.recorded("job "+reasonSandboxLost) != (tc.reason != "") {
					t.Errorf("events %q", b.events)
				}
				if tc.reason == "" {
					return
				}
				b.taken()
				tend(b, p, time.Hour)
				expectCalls(t, b) // nor is anything of it touched again

				b = reboot(t, b)
				b.create(p)
				expectCalls(t, b, "teardown 1", "remove-cgroup 1")
				expectEnd(t, b, tc.want, tc.reason)
			})
		})
	}
}

func expectEnd(t *testing.T, b *bench, phase v1.PodPhase, reason string) {
	t.Helper()
	st, _ := b.store.Get("1")
	if st.Phase != phase || st.Reason != reason {
		t.Errorf("%s %q, want %s %q; %+v", st.Phase, st.Reason, phase, reason, st.ContainerStatuses)
	}
	for i := range st.ContainerStatuses {
		if c := &st.ContainerStatuses[i]; phase == v1.PodFailed && c.State.Terminated == nil {
			t.Errorf("of a pod that has failed, container %s is %+v", c.Name, c.State)
		}
	}
	if ended := b.state("1") == Finished; ended != (phase != v1.PodRunning) {
		t.Errorf("state %s of a pod that is %s", b.state("1"), phase)
	}
}

func TestAnAgentThatFindsAPodHalfStartedWithoutItsSandboxEndsIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := newPod("job", "1", "a", "b")
		p.Spec.RestartPolicy = v1.RestartPolicyNever
		b.change("1", func(o *status.ObservedPod) {
			o.Name, o.Namespace = p.Name, p.Namespace
			o.Sandboxes = []status.ObservedSandbox{{ID: "s"}}
			o.Containers = []status.ObservedContainer{{ID: "c", Name: "a", State: status.StateExited, ExitCode: 255}}
		})
		b.create(p)
		expectCalls(t, b, "stop-sandbox s", "teardown 1", "remove-cgroup 1")
		expectEnd(t, b, v1.PodFailed, reasonSandboxLost)
	})
}

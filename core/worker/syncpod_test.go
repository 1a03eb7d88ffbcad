package worker

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// told returns the Killing and SandboxChanged events since the last call.
func (b *bench) told() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var told []string
	for _, said := range b.said {
		if reason, _, _ := strings.Cut(said, ":"); reason == reasonSandboxChanged || reason == "Killing" {
			told = append(told, said)
		}
	}
	b.said = nil
	return told
}

func TestSandboxChanged(t *testing.T) {
	t.Parallel()
	const (
		made   = "SandboxChanged: Pod sandbox changed, it will be killed and re-created."
		killed = "SandboxChanged: Pod sandbox changed, it will be killed, and by its restart policy nothing of the pod starts again."
		gone   = "SandboxChanged: Pod sandbox is gone, it will be re-created."
		dead   = "Killing: Stopping container a: the pod's sandbox is not ready any more"
	)
	for name, tc := range map[string]struct {
		policy v1.RestartPolicy
		change func(p *v1.Pod, o *status.ObservedPod)
		want   []string
	}{
		"says that a dead sandbox is made again": {
			v1.RestartPolicyAlways, func(_ *v1.Pod, o *status.ObservedPod) { o.Sandboxes[0].Ready = false }, []string{made, dead},
		},
		"says that nothing follows under Never": {
			v1.RestartPolicyNever, func(_ *v1.Pod, o *status.ObservedPod) { o.Sandboxes[0].Ready = false }, []string{killed, dead},
		},
		"says so of a pod whose containers have ended with it": {
			v1.RestartPolicyAlways, func(_ *v1.Pod, o *status.ObservedPod) {
				o.Sandboxes[0].Ready = false
				o.Containers[0].State, o.Containers[0].ExitCode = status.StateExited, 137
			}, []string{made},
		},
		"says that the sandbox is gone": {
			v1.RestartPolicyAlways, func(_ *v1.Pod, o *status.ObservedPod) { o.Sandboxes, o.Containers = nil, nil }, []string{gone},
		},
		"says why after an edit of the network": {
			v1.RestartPolicyAlways, func(p *v1.Pod, _ *status.ObservedPod) { p.Spec.HostNetwork = true },
			[]string{made, "Killing: Stopping container a: the pod's sandbox is not on the host's network, and the pod is to be"},
		},
		"says nothing of a container that ends by itself": {
			v1.RestartPolicyAlways, func(_ *v1.Pod, o *status.ObservedPod) { o.Containers[0].State = status.StateExited }, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				p := newPod("web", "1", "a")
				p.Spec.RestartPolicy = tc.policy
				b.create(p)
				synctest.Wait()
				b.sync(p)
				synctest.Wait()
				if told := b.told(); len(told) > 0 {
					t.Errorf("of a pod that starts: %q", told)
				}
				p = p.DeepCopy()
				b.change("1", func(o *status.ObservedPod) { tc.change(p, o) })
				b.update(p)
				syncFor(b, p, time.Minute)
				if told := b.told(); !slices.Equal(told, tc.want) {
					t.Errorf("told %q\nwant %q", told, tc.want)
				}
			})
		})
	}
}

func TestSandboxChanged_isToldOnceForASandbox(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := newPod("web", "1", "a")
		b.create(p)
		synctest.Wait()
		b.mu.Lock()
		b.fail["run-sandbox"] = errBroken
		b.mu.Unlock()
		b.change("1", func(o *status.ObservedPod) { o.Sandboxes[0].Ready = false })
		syncFor(b, p, 5*time.Minute)
		changed := 0
		for _, said := range b.told() {
			if strings.HasPrefix(said, reasonSandboxChanged) {
				changed++
			}
		}
		if !b.recorded("web FailedCreatePodSandBox") || changed != 1 {
			t.Errorf("told %d times of one sandbox that cannot be made again, want once; events %q", changed, b.events)
		}
	})
}

func TestSandboxChanged_isToldAfterAReboot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		withOutcomes(b)
		p := newPod("web", "1", "a")
		b.create(p)
		synctest.Wait()
		b.sync(p)
		synctest.Wait()
		b = reboot(t, b)
		b.create(p)
		syncFor(b, p, time.Minute)
		if told := b.told(); !slices.Equal(told, []string{"SandboxChanged: " + messageSandboxGone}) {
			t.Errorf("told %q", told)
		}
	})
}

func TestKilling_saysWhyThePodEnds(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		end  func(b *bench, p *v1.Pod)
		want string
	}{
		"it was removed": {
			func(b *bench, p *v1.Pod) { b.pool.Submit(Request{Kind: Kill, Pod: p}) },
			"the pod's document was removed, has changed, or gave way to another",
		},
		"it was evicted": {
			func(b *bench, p *v1.Pod) { b.pool.Submit(Request{Kind: Kill, Pod: p, Kill: &KillOptions{Evict: true}}) },
			"the pod was evicted",
		},
		"it was deleted": {
			func(b *bench, p *v1.Pod) {
				p = p.DeepCopy()
				p.DeletionTimestamp = new(metav1.Now())
				b.update(p)
			},
			"the pod was deleted",
		},
		"its deadline": {
			func(b *bench, p *v1.Pod) {
				p = p.DeepCopy()
				p.Spec.ActiveDeadlineSeconds = new(int64(5))
				b.update(p)
				time.Sleep(10 * time.Second)
			},
			messageDeadline,
		},
		"it is nobody's": {
			func(b *bench, _ *v1.Pod) {
				o, _ := b.cache.Get("2")
				b.pool.Submit(Request{Kind: Kill, Observed: &o})
			},
			"no source wants the pod",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				p := newPod("web", "1", "a")
				b.create(p)
				_, o := good()
				o.UID, o.Name = "2", "other"
				o.Containers = o.Containers[:1]
				o.Containers[0].Name = "a"
				b.change("2", func(is *status.ObservedPod) { *is = *o })
				synctest.Wait()
				tc.end(b, p)
				synctest.Wait()
				if told := b.told(); !slices.Equal(told, []string{"Killing: Stopping container a: " + tc.want}) {
					t.Errorf("told %q, want why: %q", told, tc.want)
				}
			})
		})
	}
}

// TestSandboxChanged_containerThatIsStoppedWellRunsOn checks that a container that the agent
// stops for a new sandbox is started again, even if it exits with 0 and the restart policy is
// OnFailure.
func TestSandboxChanged_containerThatIsStoppedWellRunsOn(t *testing.T) {
	t.Parallel()
	for _, network := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			b.stopCode = 0
			p := newPod("web", "1", "a")
			p.Spec.RestartPolicy, p.Spec.HostNetwork = v1.RestartPolicyOnFailure, network
			b.create(p)
			synctest.Wait()
			b.sync(p)
			synctest.Wait()
			b.change("1", func(o *status.ObservedPod) { o.Sandboxes[0].Ready = false })
			b.update(p)
			syncFor(b, p, time.Minute)
			if st, _ := b.store.Get("1"); st.Phase != v1.PodRunning || len(st.ContainerStatuses) != 1 || st.ContainerStatuses[0].State.Running == nil {
				t.Errorf("hostNetwork %t: %+v", network, st)
			}
			if told := b.told(); len(told) != 2 {
				t.Errorf("hostNetwork %t: told %q", network, told)
			}
		})
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
		fails  string // the call that fails until the sandbox is lost
		lost   func(*status.ObservedPod)
		stop   int32 // the exit code of containers that are stopped
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
				withOutcomes(b)
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
				syncFor(b, p, 3*time.Minute)
				expectEnd(t, b, tc.want, tc.reason)
				if b.recorded("job "+reasonSandboxLost) != (tc.reason != "") {
					t.Errorf("events %q", b.events)
				}
				if tc.reason == "" {
					return
				}
				b.taken()
				syncFor(b, p, time.Hour)
				expectCalls(t, b) // later syncs do nothing, too

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

// TestSync_stopsNothingForAVersionThatIsNotTheNewest syncs a version that is older than the
// running one, and updates it while its volumes are set up: no container may be stopped.
func TestSync_stopsNothingForAVersionThatIsNotTheNewest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		newest := newPod("web", "1", "a")
		b.create(newest)
		synctest.Wait()
		b.taken()
		older := newest.DeepCopy()
		older.Spec.Containers[0].Image = "older"
		held := make(chan struct{})
		b.mu.Lock()
		b.hold["setup web"] = held
		b.mu.Unlock()
		b.update(older)
		synctest.Wait()
		b.update(newest)
		close(held)
		expectCalls(t, b)
	})
}

// TestSync_ownPolicyNeverInANewSandbox checks that a container whose own policy is Never runs
// again in a new sandbox if the pod's policy is Always, as with a kubelet, and that the status
// shows this.
func TestSync_ownPolicyNeverInANewSandbox(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := newPod("web", "1", "a", "b")
		p.Spec.Containers[0].RestartPolicy = new(v1.ContainerRestartPolicyNever)
		b.create(p)
		synctest.Wait()
		b.exit(b.newest("1", "a").ID, 0)
		b.sync(p)
		synctest.Wait()
		b.change("1", func(o *status.ObservedPod) { o.Sandboxes[0].Ready = false })
		for range 3 {
			b.sync(p)
			time.Sleep(30 * time.Second)
			synctest.Wait()
		}
		st, _ := b.store.Get("1")
		for _, name := range []string{"a", "b"} {
			c, is := pod.ContainerStatus(&st, name), b.newest("1", name)
			if c.ContainerID != "fake://"+is.ID || c.State.Running == nil || is.State != status.StateRunning {
				t.Errorf("container %s is shown as %s %+v, and is %s %v", name, c.ContainerID, c.State, is.ID, is.State)
			}
		}
	})
}

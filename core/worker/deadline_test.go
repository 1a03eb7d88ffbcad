package worker

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
)

// limited returns a pod with an active deadline in seconds.
func limited(seconds int64) *v1.Pod {
	p := newPod("job", "1", "a")
	p.Spec.ActiveDeadlineSeconds = &seconds
	return p
}

// expectExceeded checks that the pod has failed because of its deadline.
func expectExceeded(t *testing.T, b *bench) {
	t.Helper()
	st, _ := b.store.Get("1")
	if st.Phase != v1.PodFailed || st.Reason != "DeadlineExceeded" || st.Message != "Pod was active on the node longer than the specified deadline" {
		t.Errorf("phase %s, reason %q, message %q", st.Phase, st.Reason, st.Message)
	}
	if c := api.Condition(&st, v1.PodReady); c == nil || c.Status != v1.ConditionFalse || c.Reason != "PodFailed" {
		t.Errorf("condition Ready is %+v", c)
	}
	if b.state("1") != Finished {
		t.Errorf("state = %s", b.state("1"))
	}
	events := 0
	for _, e := range b.events {
		if e == "job DeadlineExceeded" {
			events++
		}
	}
	if events != 1 {
		t.Errorf("%d events say so, want one", events)
	}
}

func TestAPodEndsWhenItsDeadlineHasCome(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		policy v1.RestartPolicy
		exit   int32 // the exit code of a stopped container
		static bool
	}{
		"a static pod that would always run": {v1.RestartPolicyAlways, 137, true},
		"a job whose end looks like success": {v1.RestartPolicyNever, 0, true},
		"an API server's pod":                {v1.RestartPolicyOnFailure, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				p := limited(100)
				p.Spec.RestartPolicy = tc.policy
				if !tc.static {
					fromAPI(p)
				}
				b.stopCode = tc.exit
				b.create(p)
				expectCalls(t, b, "run-sandbox job#0", "start job/a#0")
				time.Sleep(100*time.Second - time.Nanosecond)
				expectCalls(t, b)
				time.Sleep(time.Nanosecond)
				expectCalls(t, b, "stop c2 30s", "stop-sandbox s1", "teardown 1", "remove-cgroup 1")
				expectExceeded(t, b)
				if b.pool.ContentRemovable("1") {
					t.Error("what it leaves may go while its source holds it")
				}
				// Neither an update nor a sync starts the pod again.
				b.update(p)
				b.sync(p)
				time.Sleep(time.Hour)
				expectCalls(t, b)
				expectExceeded(t, b)
			})
		})
	}
}

func TestAPodSaysThatItsDeadlineHasComeWhileItEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.hold["stop c2"] = make(chan struct{})
		b.create(limited(5))
		time.Sleep(5 * time.Second)
		synctest.Wait()
		st, _ := b.store.Get("1")
		if st.Phase != v1.PodFailed || st.Reason != "DeadlineExceeded" || st.ContainerStatuses[0].State.Running == nil {
			t.Errorf("status %+v", st)
		}
		if !b.pool.MayRunContainers("1") || b.pool.KnownTerminated("1") {
			t.Error("the pool takes a pod that is being ended for one that has")
		}
		close(b.hold["stop c2"])
		synctest.Wait()
		expectExceeded(t, b)
	})
}

// TestADeadlineEndsWhatAPodIsAbout checks that a deadline interrupts the step that is in
// progress.
func TestADeadlineEndsWhatAPodIsAbout(t *testing.T) {
	t.Parallel()
	for name, held := range map[string]string{
		"an image is being pulled":      "image img",
		"a sandbox is being made":       "run-sandbox",
		"a container is being started":  "start job/a",
		"its volumes are being mounted": "setup job",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				b.hold[held] = make(chan struct{}) // never released
				b.create(limited(60))
				time.Sleep(60*time.Second - time.Nanosecond)
				synctest.Wait()
				if got := b.state("1"); got != Syncing {
					t.Fatalf("state = %s before the deadline", got)
				}
				time.Sleep(time.Nanosecond)
				synctest.Wait()
				expectExceeded(t, b)
				if b.log.count.Load() > 0 {
					t.Error("an end that was due was logged as a failure")
				}
				if b.recorded("job FailedMount") || b.recorded("job FailedCreatePodSandBox") || b.recorded("job Failed") {
					t.Errorf("events blame what was interrupted: %q", b.events)
				}
			})
		})
	}
}

func TestADeadlineCanChange(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		from, to int64 // 0 for none
		at, ends time.Duration
	}{
		"to an earlier one":         {100, 50, 10 * time.Second, 50 * time.Second},
		"to one that has passed":    {100, 50, 70 * time.Second, 70 * time.Second},
		"to a later one":            {100, 200, 10 * time.Second, 200 * time.Second},
		"it can come":               {0, 50, 10 * time.Second, 50 * time.Second},
		"it can go":                 {100, 0, 10 * time.Second, 0},
		"it does not change an end": {100, 500, 100 * time.Second, 100 * time.Second},
	} {
		for when, busy := range map[string]bool{", while nothing is done": false, ", while an image is pulled": true} {
			t.Run(name+when, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					b := newBench(t)
					if busy {
						b.hold["image img"] = make(chan struct{})
					}
					with := func(seconds int64) *v1.Pod {
						p := fromAPI(limited(seconds))
						if seconds == 0 {
							p.Spec.ActiveDeadlineSeconds = nil
						}
						return p
					}
					b.create(with(tc.from))
					time.Sleep(tc.at)
					synctest.Wait()
					b.update(with(tc.to))
					synctest.Wait()
					if tc.ends == 0 {
						time.Sleep(time.Hour)
						synctest.Wait()
						if got := b.state("1"); got != Syncing {
							t.Errorf("state = %s, want it to go on", got)
						}
						return
					}
					if rest := tc.ends - tc.at; rest > 0 {
						time.Sleep(rest - time.Nanosecond)
						synctest.Wait()
						if got := b.state("1"); got != Syncing {
							t.Fatalf("state = %s before the deadline", got)
						}
						time.Sleep(time.Nanosecond)
					}
					synctest.Wait()
					expectExceeded(t, b)
				})
			})
		}
	}
}

func TestADeadlineBeginsWhenThePodDoes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		first := newPod("job", "0", "a")
		b.create(first)
		expectCalls(t, b, "run-sandbox job#0", "start job/a#0")
		b.create(limited(60)) // waits until the other pod has terminated
		time.Sleep(time.Hour)
		expectCalls(t, b)
		b.kill(first)
		synctest.Wait()
		b.taken()
		b.sync(limited(60))
		synctest.Wait()
		if got := b.phase("1"); got != v1.PodRunning {
			t.Fatalf("phase = %s, want it to have begun", got)
		}
		time.Sleep(60*time.Second - time.Nanosecond)
		synctest.Wait()
		if got := b.phase("1"); got != v1.PodRunning {
			t.Errorf("phase = %s before the deadline", got)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		expectExceeded(t, b)
	})
}

func TestAPodThatEndsForAnotherReasonHasNoDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		p := limited(60)
		p.Spec.RestartPolicy = v1.RestartPolicyNever
		b.create(p)
		synctest.Wait()
		b.exit("c2", 0)
		b.sync(p)
		synctest.Wait()
		time.Sleep(time.Hour)
		b.sync(p)
		synctest.Wait()
		if got := b.phase("1"); got != v1.PodSucceeded || b.recorded("job DeadlineExceeded") {
			t.Errorf("phase = %s, events %q", got, b.events)
		}

		deleted := limited(60)
		deleted.UID = "2"
		b.hold["stop"] = make(chan struct{})
		b.create(deleted)
		synctest.Wait()
		b.kill(deleted)
		time.Sleep(time.Hour)
		synctest.Wait()
		if st, _ := b.store.Get("2"); st.Reason != "" || b.recorded("job DeadlineExceeded") {
			t.Errorf("a pod that was being ended says %q", st.Reason)
		}
		close(b.hold["stop"])
	})
}

func TestADeadlineGoesOnOverARestart(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		// jump is how far the wall clock jumps while no agent runs. measured is how long the
		// pod has been active according to another clock, 0 if this is not known.
		jump, measured time.Duration
		away           time.Duration
		left           time.Duration
	}{
		"measured by the clock":                       {0, 0, 20 * time.Second, 70 * time.Second},
		"that has come meanwhile":                     {0, 0, time.Hour, 0},
		"a clock that went back makes it no longer":   {-10 * 365 * 24 * time.Hour, 0, 0, 100 * time.Second},
		"one that is measured is not ended too early": {10 * 365 * 24 * time.Hour, 30 * time.Second, 20 * time.Second, 70 * time.Second},
		"nor too late":                                {-10 * 365 * 24 * time.Hour, 30 * time.Second, 20 * time.Second, 70 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				book := withOutcomes(b)
				p := limited(100)
				b.create(p)
				time.Sleep(10 * time.Second)
				synctest.Wait()
				started, _ := b.store.Get("1")
				b.pool.Stop(t.Context())
				time.Sleep(tc.away)

				// The pod still runs. The stored start time is from another clock.
				b.store.Delete("1")
				began := metav1.NewTime(started.StartTime.Add(-tc.jump))
				book.kept["1"] = v1.PodStatus{StartTime: &began}
				if tc.measured > 0 {
					b.cfg.ActiveFor = func(*v1.Pod) time.Duration { return tc.measured }
				}
				b.pool = New(b.cfg)
				b.create(p)
				if tc.left > 0 {
					time.Sleep(tc.left - time.Nanosecond)
					synctest.Wait()
					if got := b.phase("1"); got != v1.PodRunning {
						t.Fatalf("phase = %s before the deadline", got)
					}
					time.Sleep(time.Nanosecond)
				}
				synctest.Wait()
				expectExceeded(t, b)
				if st, _ := b.store.Get("1"); !st.StartTime.Time.Equal(began.Truncate(time.Second)) {
					t.Errorf("started at %s, then at %s", began, st.StartTime)
				}
			})
		})
	}
}

func TestADeadlineThatHasComeIsFinalOverARestart(t *testing.T) {
	t.Parallel()
	t.Run("when the pod has ended, and the runtime has lost it", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			withOutcomes(b)
			p := limited(10)
			b.create(p)
			time.Sleep(10 * time.Second)
			synctest.Wait()
			expectExceeded(t, b)
			b = reboot(t, b)
			b.create(p)
			expectCalls(t, b, "teardown 1", "remove-cgroup 1")
			st, _ := b.store.Get("1")
			if st.Phase != v1.PodFailed || st.Reason != "DeadlineExceeded" || b.state("1") != Finished {
				t.Errorf("status %+v, state %s", st, b.state("1"))
			}
		})
	})
	t.Run("when the agent goes while the pod ends, as if all were well", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			withOutcomes(b)
			p := limited(10)
			p.Spec.RestartPolicy = v1.RestartPolicyNever
			b.hold["stop c2"] = make(chan struct{})
			b.create(p)
			time.Sleep(10 * time.Second)
			synctest.Wait()
			b.pool.Stop(t.Context())
			delete(b.hold, "stop c2")
			b.stopCode = 0
			b.pool = New(b.cfg)
			b.create(p)
			synctest.Wait()
			st, _ := b.store.Get("1")
			if st.Phase != v1.PodFailed || st.Reason != "DeadlineExceeded" || b.state("1") != Finished {
				t.Errorf("status %+v, state %s", st, b.state("1"))
			}
			if slices.Contains(b.taken(), "start job/a#1") {
				t.Error("it was started again")
			}
		})
	})
}

// TestADeadlineThatCameWhileTheMachineWasOff checks that an agent that starts after the
// deadline of a pod, of which nothing is left, fails the pod and starts nothing.
func TestADeadlineThatCameWhileTheMachineWasOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		book := withOutcomes(b)
		book.kept["1"] = v1.PodStatus{StartTime: new(metav1.NewTime(time.Now().Add(-time.Hour)))}
		b.create(limited(60))
		synctest.Wait()
		expectExceeded(t, b)
		if calls := b.taken(); slices.Contains(calls, "run-sandbox job#0") {
			t.Errorf("calls %q", calls)
		}
		if got := book.ends["1"]; got != v1.PodFailed {
			t.Errorf("the end that was kept is %q", got)
		}
	})
}

func TestALongSyncFrequencyDoesNotPutADeadlineOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.pool.SetSyncFrequency(24 * time.Hour)
		p := limited(30)
		b.create(p)
		synctest.Wait()
		if due := b.pool.Due(); len(due) > 0 {
			t.Errorf("due at once: %q", due)
		}
		time.Sleep(30 * time.Second) // without another request for the pod
		synctest.Wait()
		expectExceeded(t, b)
	})
}

func TestADeadlineIsCountedFromWhenTheAPIServerSaysThePodBegan(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ ago, left time.Duration }{
		"some time ago":                        {40 * time.Second, 60 * time.Second},
		"too long ago":                         {time.Hour, 0},
		"later than now, by a clock that lags": {-time.Hour, 100 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				p := fromAPI(limited(100))
				p.Status = v1.PodStatus{Phase: v1.PodRunning, StartTime: new(metav1.NewTime(time.Now().Add(-tc.ago)))}
				b.create(p)
				synctest.Wait()
				if tc.left > 0 {
					time.Sleep(tc.left - time.Nanosecond)
					synctest.Wait()
					if got := b.state("1"); got != Syncing {
						t.Fatalf("state = %s before the deadline", got)
					}
					time.Sleep(time.Nanosecond)
					synctest.Wait()
				}
				expectExceeded(t, b)
			})
		})
	}
}

func TestAPodThatWaitsForAnotherEndsForItsDeadlineWhenItIsItsTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		book := withOutcomes(b)
		book.kept["1"] = v1.PodStatus{StartTime: new(metav1.NewTime(time.Now().Add(-time.Hour)))}
		first := newPod("job", "0", "a")
		b.create(first)
		synctest.Wait()
		b.create(limited(60))
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := b.state("1"); got != Syncing || b.recorded("job DeadlineExceeded") {
			t.Fatalf("state = %s, events %q, want it to wait", got, b.events)
		}
		b.kill(first)
		synctest.Wait()
		expectExceeded(t, b)
	})
}

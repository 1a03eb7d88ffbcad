package syncloop

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/worker"
)

func TestTheEndOfARejectedPod(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		before func(w *world)
		want   []string
		status string
	}{
		"takes its status and asks no worker": {func(*world) {}, nil, ""},
		"leaves the status of what is held now instead": {func(w *world) {
			w.statuses["1"] = v1.PodStatus{Phase: v1.PodPending}
		}, nil, "Pending : "},
		"ends what a worker still knows of it": {func(w *world) {
			w.workers["1"] = worker.Terminating
		}, []string{"kill 1 from web.yaml#0"}, "Failed Why: Pod was rejected: no"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("file")
				p := newPod("1")
				w.run(t, func() {
					w.send(change(api.Add, p, verdict(api.Deny, "no")))
					w.expect(t)
					w.set(func() { tc.before(w) })
					w.send(api.Change{Op: api.Remove, Old: p, Origin: api.Origin{Document: "web.yaml#0"}})
					w.expect(t, tc.want...)
					w.expectStatus(t, "1", tc.status)
					if w.loop.pods.has("1") {
						t.Error("the pod is still in the set")
					}
				})
			})
		})
	}
}

func TestARejectedPodThatComesBackStarts(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]struct {
		verdict *api.Verdict
		refusal bool
	}{
		"rejected by policy":    {verdict(api.Deny, "no"), false},
		"rejected by this node": {verdict(api.Allow, ""), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("file")
				p := newPod("1")
				if first.refusal {
					w.refusals["1"] = portTaken
				}
				w.run(t, func() {
					w.send(change(api.Add, p, first.verdict))
					w.expect(t)
					w.set(func() { delete(w.refusals, "1") })
					w.send(removed(p), change(api.Add, p, verdict(api.Allow, "")))
					w.expect(t, "create 1")
					w.expectStatus(t, "1", "")
					w.set(func() { clear(w.workers) })
					untilHousekeeping()
					w.expect(t, "create 1") // it is treated as any other pod now
				})
			})
		})
	}
}

func TestAnUpdateStartsNoRejectedPod(t *testing.T) {
	t.Parallel()
	const failed = "Failed Why: Pod was rejected: no"
	for name, tc := range map[string]struct {
		op      api.Op
		verdict *api.Verdict
		want    []string
		status  string
		events  []string
	}{
		"not with the same verdict":                       {api.UpdateOp, verdict(api.Deny, "no"), nil, failed, nil},
		"not without one":                                 {api.UpdateOp, nil, nil, failed, nil},
		"not even when it is allowed":                     {api.UpdateOp, verdict(api.Allow, ""), nil, failed, nil},
		"another denial is shown":                         {api.UpdateOp, verdict(api.Deny, "never"), nil, "Failed Why: Pod was rejected: never", []string{"Warning pod-1 Why: never"}},
		"nor does a change of its status":                 {api.Reconcile, nil, nil, failed, nil},
		"the deletion is the worker's, which starts none": {api.Delete, verdict(api.Deny, "no"), []string{"update 1"}, failed, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("file")
				p, next := newPod("1"), newPod("1")
				next.Labels = map[string]string{"version": "2"}
				w.run(t, func() {
					w.send(change(api.Add, p, verdict(api.Deny, "no")))
					w.send(api.Change{Op: api.Reconcile, Old: p, New: p})
					w.expectEvents(t, "Warning pod-1 Why: no")
					w.send(change(tc.op, next, tc.verdict))
					w.expect(t, tc.want...)
					w.expectStatus(t, "1", tc.status)
					w.expectEvents(t, tc.events...)
					if m, _ := w.loop.pods.get("1"); m.pod != next || !m.rejected {
						t.Errorf("the set has %+v, want the newest version, rejected", m)
					}
					w.set(func() { clear(w.workers); clear(w.statuses) })
					untilHousekeeping()
					w.expect(t)
				})
			})
		})
	}
}

func TestADenialIsShownWhenItIsNewToARejectedPod(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		w.refusals["1"] = portTaken
		p := newPod("1")
		w.run(t, func() {
			w.send(added(p))
			w.expectEvents(t, "Warning pod-1 NodePorts: port 80 is taken")
			for _, step := range []struct {
				verdict *api.Verdict
				events  []string
			}{
				{verdict(api.Deny, "no"), []string{"Warning pod-1 Why: no"}}, // the first verdict
				{verdict(api.Deny, "no"), nil},
				{verdict(api.Deny, "never"), []string{"Warning pod-1 Why: never"}},
				{verdict(api.Deny, "never"), nil},
			} {
				w.send(change(api.UpdateOp, p, step.verdict))
				w.expectEvents(t, step.events...)
				w.expectStatus(t, "1", "Failed Why: Pod was rejected: "+step.verdict.Message)
			}
			w.expect(t)
		})
	})
}

func TestAnUpdateThatPolicyRefusesDoesNotReachThePod(t *testing.T) {
	t.Parallel()
	for _, answer := range []api.Answer{api.Deny, api.Hold} {
		t.Run(string(answer), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("file")
				p := newPod("1")
				w.run(t, func() {
					w.send(change(api.Add, p, verdict(api.Allow, "")))
					w.expect(t, "create 1")
					w.send(change(api.UpdateOp, newPod("1"), verdict(answer, "no")))
					w.expect(t)
					w.expectStatus(t, "1", "")
					if m, _ := w.loop.pods.get("1"); m.pod != p || m.rejected {
						t.Errorf("the set has %+v, want the version before", m)
					}
				})
			})
		})
	}
}

func TestARejectedPodTakesNothingFromOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		aged := func(uid types.UID, v *api.Verdict) api.Change {
			p := newPod(uid)
			p.CreationTimestamp = metav1.NewTime(time.Now().Add(-time.Hour))
			return change(api.Add, p, v)
		}
		w.workers["ending"] = worker.Terminating
		w.run(t, func() {
			w.send(aged("denied", verdict(api.Deny, "no")), aged("ending", verdict(api.Deny, "no")), added(newPod("other")))
			w.set(func() { clear(w.statuses); w.judged = nil })
			w.send(added(newPod("new")))
			w.set(func() {
				// A pod that is still terminating still has its resources.
				want := []string{"pod-new beside [pod-other pod-ending!]"}
				if d := cmp.Diff(want, w.judged); d != "" {
					t.Errorf("judged (-want +got):\n%s", d)
				}
			})
		})
	})
}

func TestWhatPolicyRefusesIsJudgedAgainByTheNextAgent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("api")
		w.run(t, func() {
			w.send(change(api.Add, newPod("1"), verdict(api.Deny, "no")))
			w.expectStatus(t, "1", "Failed Why: Pod was rejected: no")
			if w.outcomes["1"] != "" {
				t.Error("it is kept as a pod that has ended")
			}
		})
	})
}

func TestARejectionIsShownOnceItIsKept(t *testing.T) {
	t.Parallel()
	const slow, shown = 10 * time.Second, "Failed NodePorts: Pod was rejected: port 80 is taken"
	for name, tc := range map[string]struct {
		meanwhile func(w *world)
		want      string
	}{
		"while nothing happens":                  {func(*world) {}, shown},
		"also of what it has become":             {func(w *world) { w.send(change(api.UpdateOp, newPod("1"), nil)) }, shown},
		"not when it is gone":                    {func(w *world) { w.send(removed(newPod("1"))) }, ""},
		"not what it was when it has come again": {func(w *world) { w.send(removed(newPod("1"))); w.send(added(newPod("1"))) }, ""},
		"not when a worker speaks for it": {func(w *world) {
			w.set(func() { w.workers["1"] = worker.Terminating })
		}, ""},
		"not when policy has refused it since": {func(w *world) {
			w.send(change(api.UpdateOp, newPod("1"), verdict(api.Deny, "no")))
		}, "Failed Why: Pod was rejected: no"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("api")
				w.refusals["1"], w.slowDisk = portTaken, slow
				w.run(t, func() {
					w.send(added(newPod("1")), added(newPod("2")))
					w.expect(t, "create 2") // other pods do not wait for the disk
					w.expectStatus(t, "1", "")
					time.Sleep(slow / 2)
					tc.meanwhile(w)
					time.Sleep(slow/2 + time.Second)
					w.expectStatus(t, "1", tc.want)
				})
			})
		})
	}
}

func TestUnderWhichReasonARejectionCounts(t *testing.T) {
	t.Parallel()
	denied := func(reason string) *api.Verdict { return &api.Verdict{Answer: api.Deny, Reason: reason} }
	for name, tc := range map[string]struct {
		verdict *api.Verdict
		refusal admission.Result
		want    string
	}{
		"the node's is its own":                {nil, portTaken, "NodePorts"},
		"policy's is policy's":                 {denied(api.ReasonPolicyDenied), admission.Result{}, api.ReasonPolicyDenied},
		"a plugin's is another":                {denied("TooLate"), admission.Result{}, "Other"},
		"a plugin's is another like a node's":  {denied("OutOfcpu"), admission.Result{}, "Other"},
		"a node's of what policy lets through": {verdict(api.Allow, ""), portTaken, "NodePorts"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("file")
				if tc.refusal.Reason != "" {
					w.refusals["1"] = tc.refusal
				}
				w.run(t, func() {
					w.send(change(api.Add, newPod("1"), tc.verdict))
					w.set(func() {
						if len(w.counted) != 1 || w.counted[0] != tc.want {
							t.Errorf("counted %q, want %q", w.counted, tc.want)
						}
					})
				})
			})
		})
	}
}

package syncloop

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/worker"
)

var portTaken = admission.Result{Reason: "NodePorts", Message: "port 80 is taken"}

func verdict(answer api.Answer, message string) *api.Verdict {
	return &api.Verdict{Answer: answer, Reason: "Why", Message: message}
}

// change returns a change of a pod with a verdict of policies.
func change(op api.Op, p *v1.Pod, v *api.Verdict) api.Change {
	return api.Change{Op: op, New: p, Verdict: v}
}

func TestAdmission(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		w.refusals["bad"] = portTaken
		done := newPod("done")
		done.Status.Phase = v1.PodSucceeded
		w.run(t, func() {
			w.send(added(newPod("good")), added(newPod("bad")), added(done), added(newPod("late")))
			w.expect(t, "create good", "create done", "create late")
			w.expectStatus(t, "bad", "Failed NodePorts: Pod was rejected: port 80 is taken")
			w.expectEvents(t, "Warning pod-bad NodePorts: port 80 is taken")
			w.set(func() {
				want := []string{"pod-good beside []", "pod-bad beside [pod-good]", "pod-late beside [pod-good]"}
				if d := cmp.Diff(want, w.judged); d != "" {
					t.Errorf("judged (-want +got):\n%s", d)
				}
			})
			untilHousekeeping()
			w.expect(t) // a rejected pod does not get a worker later
		})
	})
}

func TestAPodWhoseUIDIsStillEndingComesAfterAndIsNotJudgedNow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		w.refusals["1"] = portTaken
		w.workers["1"] = worker.Terminating
		w.run(t, func() {
			w.send(added(newPod("1")))
			w.expect(t, "return 1")
			w.expectStatus(t, "1", "")
		})
	})
}

func TestWhatPolicySaysOfANewPod(t *testing.T) {
	t.Parallel()
	const failed = "Failed Why: Pod was rejected: no"
	rejection := []string{"Warning pod-1 Why: no"}
	for name, tc := range map[string]struct {
		op      api.Op
		verdict *api.Verdict
		create  bool
		status  string
		events  []string
	}{
		"allowed, it starts":                                   {api.Add, verdict(api.Allow, ""), true, "", nil},
		"without a policy it starts":                           {api.Add, nil, true, "", nil},
		"denied, it is rejected":                               {api.Add, verdict(api.Deny, "no"), false, failed, rejection},
		"held, it does not start either":                       {api.Add, verdict(api.Hold, "no"), false, failed, rejection},
		"restored and allowed, it starts":                      {api.Restore, verdict(api.Allow, ""), true, "", nil},
		"restored and denied, it shows that, and no new event": {api.Restore, verdict(api.Deny, "no"), false, failed, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("file")
				w.run(t, func() {
					w.send(change(tc.op, newPod("1"), tc.verdict))
					if tc.create {
						w.expect(t, "create 1")
					}
					w.expect(t)
					w.expectStatus(t, "1", tc.status)
					w.expectEvents(t, tc.events...)
					if !w.loop.pods.has("1") {
						t.Error("the pod is not in the set")
					}
					w.set(func() { clear(w.statuses) }) // a missing status alone must not start the pod
					untilHousekeeping()
					w.expect(t)
				})
			})
		})
	}
}

func TestWhatPolicyRefusedIsRefusedWhateverTheStateOfThePod(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(w *world, p *v1.Pod){
		"it has ended":                      func(_ *world, p *v1.Pod) { p.Status.Phase = v1.PodFailed },
		"an earlier one is still ending":    func(w *world, _ *v1.Pod) { w.workers["1"] = worker.Terminating },
		"an earlier agent left one running": func(w *world, _ *v1.Pod) { w.strays = []worker.Orphan{stray("1", "file")} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("file")
				p := newPod("1")
				set(w, p)
				w.run(t, func() {
					w.send(change(api.Add, p, verdict(api.Deny, "no")))
					w.expect(t)
					w.expectStatus(t, "1", "Failed Why: Pod was rejected: no")
				})
			})
		})
	}
}

func TestAPodThatRunsIsNotRejectedByARestart(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change api.Change
		runs   bool
		want   []string
	}{
		"restored and allowed":                      {change(api.Restore, newPod("1"), verdict(api.Allow, "")), true, []string{"create 1"}},
		"restored, without policies":                {change(api.Restore, newPod("1"), nil), true, []string{"create 1"}},
		"adopted, with the agent's memory lost":     {change(api.Add, newPod("1"), verdict(api.Allow, "")), true, []string{"create 1"}},
		"what does not run is judged by this node":  {change(api.Restore, newPod("1"), verdict(api.Allow, "")), false, nil},
		"and so is a new one, whatever policy says": {change(api.Add, newPod("1"), verdict(api.Allow, "")), false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("file")
				w.refusals["1"] = portTaken
				w.strays = []worker.Orphan{stray("2", "file")}
				if tc.runs {
					w.strays = append(w.strays, stray("1", "file"))
				}
				w.run(t, func() {
					w.send(tc.change)
					w.expect(t, tc.want...)
					if tc.want == nil {
						w.expectStatus(t, "1", "Failed NodePorts: Pod was rejected: port 80 is taken")
						w.expectEvents(t, "Warning pod-1 NodePorts: port 80 is taken")
					} else {
						w.expectStatus(t, "1", "")
						w.expectEvents(t)
					}
				})
			})
		})
	}
}

func TestWarningsComeOnceWhenAPodIsFirstAdmitted(t *testing.T) {
	t.Parallel()
	v := verdict(api.Allow, "")
	v.Opinions = []api.Opinion{
		{Policy: "images", Warnings: []string{"tag is mutable", "no digest"}}, {Policy: "labels", Warnings: []string{"no owner"}},
	}
	all := []string{
		"Warning pod-1 PolicyWarning: images: tag is mutable",
		"Warning pod-1 PolicyWarning: images: no digest",
		"Warning pod-1 PolicyWarning: labels: no owner",
	}
	denied := *v
	denied.Answer, denied.Reason, denied.Message = api.Deny, "Why", "no"
	for name, tc := range map[string]struct {
		first api.Change
		want  []string
	}{
		"at an ADD":                         {change(api.Add, newPod("1"), v), all},
		"not at a RESTORE":                  {change(api.Restore, newPod("1"), v), nil},
		"not for a pod that is rejected":    {change(api.Add, newPod("1"), &denied), []string{"Warning pod-1 Why: no"}},
		"not where no policy was asked":     {change(api.Add, newPod("1"), nil), nil},
		"not where policy says nothing":     {change(api.Add, newPod("1"), verdict(api.Allow, "")), nil},
		"not when this node rejects it yet": {change(api.Add, newPod("bad"), v), []string{"Warning pod-bad NodePorts: port 80 is taken"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("file")
				w.refusals["bad"] = portTaken
				w.run(t, func() {
					w.send(tc.first)
					w.expectEvents(t, tc.want...)
					w.send(change(api.UpdateOp, tc.first.New, tc.first.Verdict))
					w.expectEvents(t)
				})
			})
		})
	}
}

func TestWithoutAnAdmitterAllPodsAreAdmitted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		w.loop.cfg.Admitter = nil
		w.run(t, func() {
			w.send(change(api.Add, newPod("1"), verdict(api.Deny, "no")), added(newPod("2")))
			w.expect(t, "create 1", "create 2")
			w.expectStatus(t, "1", "")
		})
	})
}

func TestWarningsAreShownWithThePodUntilPolicyHasNone(t *testing.T) {
	t.Parallel()
	warned := func(messages ...string) *api.Verdict {
		v := verdict(api.Allow, "")
		v.Opinions = []api.Opinion{{Policy: "p", Warnings: messages}}
		return v
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		w.run(t, func() {
			p := newPod("1")
			w.send(change(api.Restore, p, warned("one")))
			w.expectEvents(t)
			w.expectWarned(t, "1", "p: one")
			w.send(change(api.UpdateOp, p, nil))
			w.expectWarned(t, "1", "p: one")
			w.send(change(api.UpdateOp, p, warned("one", "two")))
			w.expectEvents(t, "Warning pod-1 PolicyWarning: p: two")
			w.expectWarned(t, "1", "p: one; p: two")
			w.send(change(api.UpdateOp, p, verdict(api.Allow, "")))
			w.expectEvents(t)
			w.expectWarned(t, "1", "")
		})
	})
}

func TestWhatPoliciesChangedIsShownWithThePodUntilTheyChangeNothing(t *testing.T) {
	t.Parallel()
	changed := func(paths ...string) *api.Verdict {
		v := verdict(api.Allow, "")
		v.Mutation = &pod.Mutation{By: []pod.Mutator{{Policy: "p", Tenant: "a", Changed: paths}}}
		return v
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		w.run(t, func() {
			p := newPod("1")
			w.send(change(api.Add, p, changed("/a")))
			w.expectEvents(t, "Normal pod-1 PolicyMutated: p of tenant a changed /a")
			w.expectMutated(t, "1", "p of tenant a changed /a")
			w.send(change(api.UpdateOp, p, changed("/a")))
			w.expectEvents(t)
			w.send(change(api.UpdateOp, p, changed("/a", "/b")))
			w.expectEvents(t, "Normal pod-1 PolicyMutated: p of tenant a changed /a, /b")
			w.send(change(api.UpdateOp, p, verdict(api.Allow, "")))
			w.expectEvents(t)
			w.expectMutated(t, "1", "")
		})
	})
}

func TestWhatAnEarlierAgentHasBegunWithIsNotJudgedAgain(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		op     api.Op
		before func(w *world)
		judged bool
	}{
		"it runs":                          {api.Add, func(w *world) { w.strays = []worker.Orphan{stray("1", "file")} }, false},
		"it is restored, and runs":         {api.Restore, func(w *world) { w.strays = []worker.Orphan{stray("1", "file")} }, false},
		"its containers are down just now": {api.Restore, func(w *world) { w.begun["1"] = true }, false},
		"it has ended":                     {api.Restore, func(w *world) { w.outcomes["1"] = v1.PodSucceeded }, false},
		"it waited":                        {api.Restore, func(*world) {}, true},
		"it is a new one, and something of an earlier one is left": {api.Add, func(w *world) { w.begun["1"] = true }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("file")
				w.refusals["1"] = portTaken
				tc.before(w)
				w.run(t, func() {
					w.send(change(tc.op, newStatic("1"), nil))
					if tc.judged {
						w.expect(t)
						w.expectStatus(t, "1", waitsForPort)
						return
					}
					w.expect(t, "create 1")
					w.expectJudged(t)
					w.expectStatus(t, "1", "")
					w.expectEvents(t)
				})
			})
		})
	}
}

func TestAfterARestartNobodyTakesTheRoomOfWhatRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		w.strays, w.begun = []worker.Orphan{stray("runs", "file")}, map[types.UID]bool{"down": true}
		w.run(t, func() {
			w.send(change(api.Restore, newStatic("first"), nil), change(api.Restore, newStatic("runs"), nil), change(api.Restore, newStatic("down"), nil))
			w.expect(t, "create runs", "create down", "create first")
			w.expectJudged(t, "pod-first beside [pod-down pod-runs]")
		})
	})
}

func TestWhoseAnOutcomeIsIsSaidWithEveryVersionThatIsTakenIn(t *testing.T) {
	t.Parallel()
	of := func(op api.Op, version string, since int64) api.Change {
		p := newStatic("1")
		p.Labels = map[string]string{"version": version}
		c := api.Change{Op: op, New: p, Origin: api.Origin{FirstSeen: time.Unix(since, 0)}}
		if op == api.Remove {
			c.Old, c.New = p, nil
		}
		return c
	}
	forbidden := of(api.UpdateOp, "2", 5)
	forbidden.Verdict = &api.Verdict{Answer: api.Deny}
	for name, tc := range map[string]struct {
		changes []api.Change
		then    func(w *world)
		want    []string
	}{
		"a new pod":                            {[]api.Change{of(api.Add, "1", 5)}, nil, []string{"1 1 since 5"}},
		"a restored one":                       {[]api.Change{of(api.Restore, "1", 5)}, nil, []string{"1 1 since 5, restored"}},
		"an update":                            {[]api.Change{of(api.Restore, "1", 5), of(api.UpdateOp, "2", 5)}, nil, []string{"1 1 since 5, restored", "1 2 since 5, restored"}},
		"not an update that takes no effect":   {[]api.Change{of(api.Add, "1", 5), forbidden}, nil, []string{"1 1 since 5"}},
		"another life":                         {[]api.Change{of(api.Add, "1", 5), of(api.Remove, "1", 5), of(api.Add, "1", 9)}, func(w *world) { delete(w.workers, "1") }, []string{"1 1 since 5", "1 1 since 9"}},
		"not while the one before it is ended": {[]api.Change{of(api.Add, "1", 5), of(api.Remove, "1", 5), of(api.Add, "1", 9)}, nil, []string{"1 1 since 5"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("file")
				w.run(t, func() {
					for _, c := range tc.changes {
						w.send(c)
						if c.Op == api.Remove && tc.then != nil {
							w.set(func() { tc.then(w) })
						}
					}
					w.set(func() {
						if diff := cmp.Diff(tc.want, w.taken, cmpopts.EquateEmpty()); diff != "" {
							t.Errorf("taken (-want +got):\n%s", diff)
						}
					})
				})
			})
		})
	}
}

func TestAPodThatComesBackIsAnotherLifeWhenTheOneBeforeItHasLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		w.workers["1"] = worker.Terminating
		back := newPod("1")
		w.wanted["1"] = true
		w.run(t, func() {
			w.send(api.Change{Op: api.Add, New: back, Origin: api.Origin{FirstSeen: time.Unix(9, 0)}})
			newer := newPod("1")
			newer.Labels = map[string]string{"version": "2"}
			w.send(api.Change{Op: api.UpdateOp, Old: back, New: newer, Origin: api.Origin{FirstSeen: time.Unix(9, 0)}})
			w.set(func() {
				if len(w.taken) > 0 {
					t.Errorf("taken while another one is being ended: %q", w.taken)
				}
				w.workers["1"] = worker.Finished
				w.again["1"] = true
			})
			untilHousekeeping()
			w.set(func() {
				if diff := cmp.Diff([]string{"1 2 since 9"}, w.taken); diff != "" {
					t.Errorf("taken (-want +got):\n%s", diff)
				}
			})
		})
	})
}

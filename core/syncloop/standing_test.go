package syncloop

import (
	"testing"
	"testing/synctest"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/worker"
)

// edited is a newer version of a pod.
func edited(p *v1.Pod) *v1.Pod {
	p = p.DeepCopy()
	p.Labels = map[string]string{"edited": "yes"}
	return p
}

func TestAPodThatBecomesAnotherWhileOthersLeaveForItIsJudgedAgain(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		now    func(w *world)
		status string
		starts bool
	}{
		"and waits for the same":                    {func(*world) {}, makingRoom, true},
		"and starts at once where it needs no room": {func(w *world) { delete(w.rooms, "2") }, "Pending : ", true},
		"and waits for more":                        {func(w *world) { w.refusals["2"] = portTaken }, "Pending NodePorts: Pod was rejected for now: port 80 is taken", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			preempting(t, func(w *world, victim, critical *v1.Pod) {
				w.set(func() { w.ending = []*v1.Pod{victim}; tc.now(w) })
				w.send(api.Change{Op: api.UpdateOp, Old: critical, New: edited(critical)})
				w.expectStatus(t, "2", tc.status)
				w.set(func() {
					for _, request := range w.requests {
						if request == "kill 1" {
							t.Error("the victim is ended twice")
						}
					}
				})
				w.set(func() { w.workers["1"] = worker.Terminated; w.ending = nil })
				untilRetry()
				w.set(func() {
					if got := len(w.requests) > 0; got != tc.starts {
						t.Errorf("requests: %v", w.requests)
					}
					w.requests = nil
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

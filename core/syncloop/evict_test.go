package syncloop

import (
	"testing"
	"testing/synctest"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/worker"
)

// evicted returns the change by which a policy evicts a pod.
func evicted(p *v1.Pod) api.Change {
	return api.Change{Op: api.Evict, Old: p, New: p, Source: "file", Verdict: &api.Verdict{
		Answer: api.Deny, Reason: api.ReasonPolicyEvicted, Message: `policy "p": no`,
	}}
}

func TestAnEvictedPodEndsWithItsOwnGraceAndSaysWhy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		p := newStatic("1")
		w.run(t, func() {
			w.send(added(p))
			w.expect(t, "create 1")
			w.send(evicted(p))
			w.expect(t, "kill 1")
			w.expectEvents(t, `Warning pod-1 PolicyEvicted: Pod is evicted: policy "p": no`)
			kill := w.kills[p.UID]
			if kill == nil || !kill.Evict || kill.Grace != nil {
				t.Fatalf("it is killed with %+v", kill)
			}
			st := v1.PodStatus{Phase: v1.PodRunning}
			kill.Status(&st)
			if st.Phase != v1.PodFailed || st.Reason != "PolicyEvicted" || st.Message != `Pod was evicted: policy "p": no` || len(st.Conditions) != 1 ||
				st.Conditions[0].Type != v1.DisruptionTarget {
				t.Errorf("status %+v", st)
			}
			w.set(func() { w.workers["1"] = worker.Terminated })
			untilHousekeeping()
			w.expect(t) // the pod does not start again
			w.send(evicted(p))
			w.expect(t)
		})
	})
}

func TestAnEvictedPodOfWhichNothingHasBegunIsRejected(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		p := newStatic("1")
		w.refusals["1"] = portTaken
		w.run(t, func() {
			w.send(added(p))
			w.expect(t) // the pod waits for room
			w.send(evicted(p))
			w.expect(t)
			w.expectStatus(t, "1", `Failed PolicyEvicted: Pod was rejected: policy "p": no`)
			w.set(func() { delete(w.refusals, "1") })
			untilRetry()
			w.expect(t)
		})
	})
}

func TestAPodThatAnEarlierAgentWasToEvictIsEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		p := newStatic("1")
		w.begun = map[types.UID]bool{"1": true}
		w.run(t, func() {
			c := evicted(p)
			c.Op, c.Old, c.Restored = api.Restore, nil, true
			w.send(c)
			w.expect(t, "kill 1")
		})
	})
}

package syncloop

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/worker"
)

func TestWhoseAnOutcomeIsIsSaidWithEveryVersionThatIsTakenIn(t *testing.T) {
	t.Parallel()
	of := func(op pod.Op, version string, since int64) pod.Change {
		p := newStatic("1")
		p.Labels = map[string]string{"version": version}
		c := pod.Change{Op: op, New: p, Origin: pod.Origin{FirstSeen: time.Unix(since, 0)}}
		if op == pod.Remove {
			c.Old, c.New = p, nil
		}
		return c
	}
	forbidden := of(pod.UpdateOp, "2", 5)
	forbidden.Verdict = &pod.Verdict{Answer: pod.Deny}
	for name, tc := range map[string]struct {
		changes []pod.Change
		then    func(w *world)
		want    []string
	}{
		"a new pod":                            {[]pod.Change{of(pod.Add, "1", 5)}, nil, []string{"1 1 since 5"}},
		"a restored one":                       {[]pod.Change{of(pod.Restore, "1", 5)}, nil, []string{"1 1 since 5, restored"}},
		"an update":                            {[]pod.Change{of(pod.Restore, "1", 5), of(pod.UpdateOp, "2", 5)}, nil, []string{"1 1 since 5, restored", "1 2 since 5, restored"}},
		"not an update that takes no effect":   {[]pod.Change{of(pod.Add, "1", 5), forbidden}, nil, []string{"1 1 since 5"}},
		"another life":                         {[]pod.Change{of(pod.Add, "1", 5), of(pod.Remove, "1", 5), of(pod.Add, "1", 9)}, func(w *world) { delete(w.workers, "1") }, []string{"1 1 since 5", "1 1 since 9"}},
		"not while the one before it is ended": {[]pod.Change{of(pod.Add, "1", 5), of(pod.Remove, "1", 5), of(pod.Add, "1", 9)}, nil, []string{"1 1 since 5"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("file")
				w.run(t, func() {
					for _, c := range tc.changes {
						w.send(c)
						if c.Op == pod.Remove && tc.then != nil {
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
			w.send(pod.Change{Op: pod.Add, New: back, Origin: pod.Origin{FirstSeen: time.Unix(9, 0)}})
			newer := newPod("1")
			newer.Labels = map[string]string{"version": "2"}
			w.send(pod.Change{Op: pod.UpdateOp, Old: back, New: newer, Origin: pod.Origin{FirstSeen: time.Unix(9, 0)}})
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

package syncloop

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/worker"
)

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

package mux

import (
	"cmp"
	"testing"
	"testing/synctest"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// loop is a sync loop that only records and checks the changes it is sent.
type loop struct {
	t *testing.T
	// pods are the pods by UID. The value is true for a pod that may run.
	pods map[types.UID]bool
	// restored are the pods that the last restart restored.
	restored map[types.UID]bool
	// successor is the UID of the pod that replaced a pod.
	successor map[types.UID]types.UID
	// newest are the newest versions of the pods that the mux has handed on.
	newest map[types.UID]*v1.Pod
	// filtered has the answers of the filter, nil without a filter.
	filtered *strainer
}

func (l *loop) take(g *gated) {
	l.t.Helper()
	synctest.Wait()
	for len(g.mux.Updates()) > 0 {
		u := <-g.mux.Updates()
		for _, c := range u.Changes {
			uid := c.Pod().UID
			l.t.Logf("  %s %s for %q of %s", c.Op, uid, c.Replaces, c.Source)
			_, has := l.pods[uid]
			switch c.Op {
			case api.Remove:
				if !has {
					l.t.Errorf("REMOVE of %s, which was never handed on", uid)
				}
				delete(l.pods, uid)
				l.successor[uid] = c.Replaces
			case api.Add, api.Restore:
				if has {
					l.t.Errorf("%s of %s, which is there already", c.Op, uid)
				}
				l.pods[uid] = c.Verdict == nil || c.Verdict.Answer == api.Allow
				if c.Op == api.Restore {
					l.restored[uid] = true
				}
			default:
				if !has {
					l.t.Errorf("%s of %s, which is not there", c.Op, uid)
				}
			}
			v := c.Verdict
			l.checkFinal(&c)
			l.filtered.check(l.t, &c)
			switch {
			case c.Op == api.Remove:
			case v == nil:
				l.t.Errorf("%s of %s without a verdict", c.Op, uid)
			case v.Answer == api.Hold:
				l.t.Errorf("%s of %s with a verdict of hold", c.Op, uid)
			case v.Answer == api.Allow && !g.judge.allowed[cmp.Or(c.Origin.Instance, instanceOf(l.t, c.New))]:
				l.t.Errorf("%s of %s, an instance that was never allowed: %s", c.Op, uid, c.New.Spec.Containers[0].Image)
			}
		}
	}
}

func instanceOf(t *testing.T, p *v1.Pod) string {
	t.Helper()
	instance, err := pod.Instance(p)
	if err != nil {
		t.Fatal(err)
	}
	return instance
}

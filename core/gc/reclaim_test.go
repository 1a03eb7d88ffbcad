package gc

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// endedNode returns a node with the pod u, which ended and is still shown, and v, which runs.
func endedNode() *fakeNode {
	n := newNode()
	n.add("u", []string{"c2 a exited s1", "c1 a exited s1"}, []string{"s1 over"})
	n.add("v", []string{"d2 a running t2", "d1 a exited t1"}, []string{"t2 ready", "t1 over"})
	return n
}

func TestRemoveDeadContainers(t *testing.T) {
	t.Parallel()
	removed := []string{"container c2", "container c1", "stop s1", "sandbox s1"}
	for name, test := range map[string]struct {
		ended []types.UID
		want  []string
	}{
		"of a pod that has ended":           {[]types.UID{"u"}, removed},
		"never of a pod that runs":          {[]types.UID{"u", "v"}, removed},
		"not of a pod that may start again": {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := endedNode()
			c, _ := newCollector(t, n)
			c.cfg.Ended = func(uid types.UID) bool { return slices.Contains(test.ended, uid) }
			if err := c.RemoveDeadContainers(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := n.done(); !slices.Equal(got, test.want) {
				t.Errorf("done: %v, want %v", got, test.want)
			}
			c.Stop(t.Context())
		})
	}
}

func TestRemoveDeadContainers_waitsNoLongerThanItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := endedNode()
		n.slow = time.Minute / 2
		c, _ := newCollector(t, n)
		c.cfg.Ended = func(uid types.UID) bool { return uid == "u" }
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := c.RemoveDeadContainers(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		c.Stop(t.Context())
	})
}

func TestRemoveDeadContainers_withoutTheRuntimesList(t *testing.T) {
	t.Parallel()
	n := endedNode()
	n.fail["list"] = true
	c, _ := newCollector(t, n)
	c.cfg.Ended = func(types.UID) bool { return true }
	if err := c.RemoveDeadContainers(t.Context()); err == nil || len(n.done()) > 0 {
		t.Errorf("error %v, done: %v", err, n.done())
	}
}

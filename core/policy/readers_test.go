package policy

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

func TestWhoWaitsByWhatWasSeenOfTheNodeIsToldWhenThatChanges(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("quota", "quota 1", reads)
		n := &aNode{pods: []NodePod{{policytest.SomePod("a"), "static"}}}
		p, _ := listed(t, d, s, func(c *Config) { c.Facts = n.node() })
		run(t, p)
		told := func(step string, want bool) {
			t.Helper()
			time.Sleep(2 * readersPeriod)
			synctest.Wait()
			select {
			case <-p.NodeChanged():
				if !want {
					t.Errorf("%s: it is told", step)
				}
			default:
				if want {
					t.Errorf("%s: nobody is told", step)
				}
			}
		}
		told("nobody waits", false)
		if got := ask(t, p, policytest.Question("web")); got.Answer != api.Hold || !got.ReadsNode {
			t.Errorf("verdict %+v", got)
		}
		told("the first look", true)
		told("nothing happens", false)
		ask(t, p, policytest.Question("web"))
		told("still nothing happens", false)
		n.set()
		told("a pod has ended", true)
		n.set(NodePod{policytest.SomePod("b"), "static"})
		told("it was told, and nobody has asked since", false)
		ask(t, p, policytest.Question("web"))
		n.set()
		told("another has ended", true)
		if got := ask(t, p, policytest.Question("web")); got.Answer != api.Allow || !got.ReadsNode {
			t.Errorf("verdict %+v", got)
		}
		told("it was admitted", false)
	})
}

func TestNothingIsReservedForPodsThatAreGoneAlsoWhereNobodyLooks(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("p", "allow")
		n := &aNode{unwanted: map[types.UID]bool{}}
		p, _ := listed(t, d, s, func(c *Config) { c.Facts = n.node() })
		run(t, p)
		for i := range 100 {
			ask(t, p, policytest.Question(fmt.Sprint("p", i)))
		}
		reserved := func() int {
			time.Sleep(2 * readersPeriod)
			synctest.Wait()
			p.nodeView.mu.Lock()
			defer p.nodeView.mu.Unlock()
			return len(p.nodeView.reserved)
		}
		if got := reserved(); got != 100 {
			t.Errorf("%d of 100 pods that were admitted are reserved", got)
		}
		n.set(aPod("shop", "p0"))
		n.mu.Lock()
		for i := range 98 {
			n.unwanted[types.UID(fmt.Sprint("uid-p", i+1))] = true
		}
		n.mu.Unlock()
		if got := reserved(); got != 1 {
			t.Errorf("one runs, 98 are gone, and %d are reserved", got)
		}
	})
}

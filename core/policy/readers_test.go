package policy

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/wardlet/wardlet/core/pod"
)

func TestWhoWaitsByWhatWasSeenOfTheNodeIsToldWhenThatChanges(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		d.policy("quota", "quota 1", reads)
		n := &aNode{pods: []NodePod{{somePod("a"), "static"}}}
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
		set := func(pods ...NodePod) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.pods = pods
		}
		told("nobody waits", false)
		if got := ask(t, p, question("web")); got.Answer != pod.Hold || !got.ReadsNode {
			t.Errorf("verdict %+v", got)
		}
		told("the first look", true)
		told("nothing happens", false)
		ask(t, p, question("web"))
		told("still nothing happens", false)
		set()
		told("a pod has ended", true)
		set(NodePod{somePod("b"), "static"})
		told("it was told, and nobody has asked since", false)
		ask(t, p, question("web"))
		set()
		told("another has ended", true)
		if got := ask(t, p, question("web")); got.Answer != pod.Allow || !got.ReadsNode {
			t.Errorf("verdict %+v", got)
		}
		told("it was admitted", false)
	})
}

package policy

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// aNode is a node of which a test says what runs on it.
type aNode struct {
	mu       sync.Mutex
	pods     []NodePod
	unwanted map[types.UID]bool
}

func (n *aNode) node() *Node {
	return &Node{
		Labels: map[string]string{"zone": "a"}, Allocatable: map[string]string{"cpu": "4"},
		Pods: func() []NodePod {
			n.mu.Lock()
			defer n.mu.Unlock()
			return slices.Clone(n.pods)
		},
		Wanted: func(uid types.UID) bool {
			n.mu.Lock()
			defer n.mu.Unlock()
			return !n.unwanted[uid]
		},
	}
}

const reads = "capabilities = [\"node.read\"]"

func names(f *wasm.NodeFacts) (names []string) {
	for _, p := range f.Pods {
		names = append(names, p.Namespace+"/"+p.Name)
	}
	return names
}

func TestOfPodsThatRaceExactlyTheQuotaIsAdmitted(t *testing.T) {
	t.Parallel()
	for round := range 20 {
		d, s := newTree(t), newScripts()
		d.policy("quota", "quota 10", reads)
		c := testConfig(d, s)
		c.Facts, c.Evaluators = (&aNode{}).node(), 8
		p := New(c)
		stop := run(t, p)
		var mu sync.Mutex
		answers := map[pod.Answer]int{}
		var all sync.WaitGroup
		for i := range 50 {
			all.Add(1)
			p.Judge(question(fmt.Sprintf("p%02d", i)), func(v pod.Verdict) {
				mu.Lock()
				answers[v.Answer]++
				mu.Unlock()
				all.Done()
			})
		}
		all.Wait()
		stop()
		if answers[pod.Allow] != 10 || answers[pod.Hold] != 40 {
			t.Fatalf("round %d: %v", round, answers)
		}
	}
}

func TestWhatWasAdmittedCountsUntilItIsGone(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		d.policy("quota", "quota 2", reads)
		n := &aNode{unwanted: map[types.UID]bool{}}
		p, _ := listed(t, d, s, func(c *Config) { c.Facts = n.node() })
		run(t, p)
		want := func(step, name string, answer pod.Answer) {
			t.Helper()
			if got := ask(t, p, question(name)); got.Answer != answer {
				t.Errorf("%s: %s is answered %s, want %s", step, name, got.Answer, answer)
			}
		}
		want("an empty node", "a", pod.Allow)
		want("one admitted", "b", pod.Allow)
		want("two admitted", "c", pod.Hold)
		n.pods = []NodePod{{somePod("a"), "static"}, {somePod("b"), "static"}}
		want("both run", "c", pod.Hold)
		n.pods = n.pods[:1]
		want("one has ended", "c", pod.Allow)
		want("its place is taken", "d", pod.Hold)
		n.unwanted["uid-c"] = true
		want("who was to take it is not wanted any more", "d", pod.Allow)
	})
}

func TestAnAnswerThatDoesNotAllowGivesBackWhatWasReserved(t *testing.T) {
	t.Parallel()
	n := &aNode{}
	l := &ledger{node: n.node()}
	q := question("a")
	seen := l.look()
	if !l.commit(&q, pod.Allow, seen) {
		t.Fatal("the newest does not count")
	}
	other := question("b")
	if l.commit(&other, pod.Allow, seen) {
		t.Error("what was seen before counts")
	}
	if !l.commit(&other, pod.Hold, seen) {
		t.Error("a pod that takes nothing has to wait")
	}
	if !l.commit(&q, pod.Deny, l.look()) || len(l.look().pods) != 0 {
		t.Errorf("reserved: %+v", l.look().pods)
	}
	if l.commit(&other, pod.Allow, seen) {
		t.Error("what was seen before it was given back counts")
	}
	if !l.commit(&other, pod.Allow, nil) {
		t.Error("who has not looked has to wait")
	}
}

func TestAnUpdateOfAPodCountsOnce(t *testing.T) {
	t.Parallel()
	n := &aNode{pods: []NodePod{{somePod("a"), "static"}}}
	l := &ledger{node: n.node()}
	q := question("a", func(q *pod.Question) {
		q.Op = pod.UpdateOp
		q.Pod.Labels = map[string]string{"tier": "db"}
	})
	l.commit(&q, pod.Allow, nil)
	if got := l.look().pods; len(got) != 1 || got[0].Labels["tier"] != "db" {
		t.Errorf("%+v, want the newer version", got)
	}
	n.pods[0].Pod = q.Pod.DeepCopy()
	if l.look(); len(l.reserved) != 0 {
		t.Errorf("what runs is reserved on: %v", l.reserved)
	}
}

func TestWhatIsKnownOfAPod(t *testing.T) {
	t.Parallel()
	priority := int32(7)
	p := somePod("a", func(p *v1.Pod) {
		p.Spec.Priority = &priority
		p.Spec.InitContainers = []v1.Container{{
			Ports:     []v1.ContainerPort{{HostPort: 1}},
			Resources: v1.ResourceRequirements{Requests: v1.ResourceList{"cpu": resource.MustParse("2")}},
		}}
		p.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: 80}, {HostPort: 8080}}
		p.Spec.Containers[0].Resources.Requests = v1.ResourceList{"cpu": resource.MustParse("1500m"), "memory": resource.MustParse("1Gi")}
	})
	want := wasm.NodePod{
		Namespace: "shop", Name: "a", UID: "uid-a", Source: "static", Labels: map[string]string{"tier": "web"}, Priority: 7,
		Requests: map[string]string{"cpu": "2", "memory": "1Gi"}, HostPorts: []int32{1, 8080},
	}
	if diff := cmp.Diff(want, factOf(NodePod{p, "static"})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPoliciesSeeOfTheNodeWhatIsTheirs(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		d.policy("all", "allow", reads)
		d.policy("blind", "allow")
		d.hooked("later", hookFilter, "pass", reads)
		d.of("a").policy("own", "allow", reads)
		in := func(namespace string) NodePod {
			return NodePod{somePod("p", func(p *v1.Pod) { p.Namespace, p.UID = namespace, types.UID(namespace) }), "static"}
		}
		n := &aNode{pods: []NodePod{in("b"), in("shop"), in("a-web")}}
		p, _ := listed(t, d, s, tenanted(d, "a"), func(c *Config) { c.Facts = n.node() })
		run(t, p)
		ask(t, p, question("web", func(q *pod.Question) { q.Pod.Namespace = "a-web" }))
		filterBy(t, p, filterQuestion("shop"))
		for policy, want := range map[string]string{"all": "a-web/p b/p shop/p", "own": "a-web/p", "later": "a-web/p a-web/web b/p shop/p"} {
			facts := s.requests[policy].Node
			if facts == nil || strings.Join(names(facts), " ") != want || facts.Labels["zone"] != "a" || facts.Allocatable["cpu"] != "4" {
				t.Errorf("%s sees %+v", policy, facts)
			}
		}
		if s.requests["blind"].Node != nil {
			t.Errorf("a policy without the capability sees %+v", s.requests["blind"].Node)
		}
	})
}

func TestWithoutFactsAboutTheNodeThePluginIsToldNone(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		d.policy("quota", "quota 2", reads, "[[test]]\npod = \"a.yaml\"\nexpect = \"allow\"")
		d.write("a.yaml", manifest)
		p, _ := listed(t, d, s)
		run(t, p)
		if got := ask(t, p, question("web")); got.Reason != pod.ReasonPolicyFailed {
			t.Errorf("verdict %+v", got)
		}
	})
}

package policy

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// aNode is a node whose pods the test sets.
type aNode struct {
	mu       sync.Mutex
	pods     []NodePod
	unwanted map[types.UID]bool
	// wants has, by UID, the instance in which a pod is wanted; a pod without an entry is
	// wanted in any instance.
	wants map[types.UID]string
	// ended are the terminated versions.
	ended []*v1.Pod
}

func (n *aNode) node() *Node {
	return &Node{
		Is: func() (labels, allocatable map[string]string) {
			return map[string]string{"zone": "a"}, map[string]string{"cpu": "4"}
		},
		Pods: func() []NodePod {
			n.mu.Lock()
			defer n.mu.Unlock()
			return slices.Clone(n.pods)
		},
		Wanted: func(uid types.UID, instance string) bool {
			n.mu.Lock()
			defer n.mu.Unlock()
			return !n.unwanted[uid] && (instance == "" || n.wants[uid] == "" || n.wants[uid] == instance)
		},
		Ended: func(p *v1.Pod) bool {
			n.mu.Lock()
			defer n.mu.Unlock()
			return slices.ContainsFunc(n.ended, func(e *v1.Pod) bool { return pod.SameInstance(e, p) })
		},
	}
}

// end sets which pods have terminated.
func (n *aNode) end(pods ...*v1.Pod) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ended = pods
}

func (n *aNode) set(pods ...NodePod) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pods = pods
}

const reads = "capabilities = [\"node.read\"]"

func names(f *abi.NodeFacts) (names []string) {
	for _, p := range f.Pods {
		names = append(names, p.Namespace+"/"+p.Name)
	}
	return names
}

func TestOfPodsThatRaceExactlyTheQuotaIsAdmitted(t *testing.T) {
	t.Parallel()
	for round := range 20 {
		d, s := policytest.NewTree(t), policytest.NewScripts()
		d.Policy("quota", "quota 10", reads)
		c := testConfig(d, s)
		c.Facts, c.Evaluators = (&aNode{}).node(), 8
		p := New(c)
		stop := run(t, p)
		var mu sync.Mutex
		answers := map[api.Answer]int{}
		var all sync.WaitGroup
		for i := range 50 {
			all.Add(1)
			p.Judge(policytest.Question(fmt.Sprintf("p%02d", i)), func(v api.Verdict) {
				mu.Lock()
				answers[v.Answer]++
				mu.Unlock()
				all.Done()
			})
		}
		all.Wait()
		stop()
		if answers[api.Allow] != 10 || answers[api.Hold] != 40 {
			t.Fatalf("round %d: %v", round, answers)
		}
	}
}

func TestWhatWasAdmittedCountsUntilItIsGone(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("quota", "quota 2", reads)
		n := &aNode{unwanted: map[types.UID]bool{}}
		p, _ := listed(t, d, s, func(c *Config) { c.Facts = n.node() })
		run(t, p)
		want := func(step, name string, answer api.Answer) {
			t.Helper()
			if got := ask(t, p, policytest.Question(name)); got.Answer != answer {
				t.Errorf("%s: %s is answered %s, want %s", step, name, got.Answer, answer)
			}
		}
		want("an empty node", "a", api.Allow)
		want("one admitted", "b", api.Allow)
		want("two admitted", "c", api.Hold)
		n.pods = []NodePod{{policytest.SomePod("a"), "static"}, {policytest.SomePod("b"), "static"}}
		want("both run", "c", api.Hold)
		n.pods = n.pods[:1]
		want("one has ended", "c", api.Allow)
		want("its place is taken", "d", api.Hold)
		n.unwanted["uid-c"] = true
		want("who was to take it is not wanted any more", "d", api.Allow)
	})
}

// onNode returns a decision about a pod that has used the node view of a tenant's policies,
// and those of the others named.
func onNode(l *nodeView, q api.Question, tenant string, sees ...string) *eval.Decision {
	d := decisionOn(q)
	d.Request.Tenant = tenant
	d.See = func(tenant string, s *eval.NodeView) *abi.NodeFacts {
		return s.Of(tenant, func(namespace string) string { return namespace })
	}
	for _, who := range sees {
		if d.Seen == nil {
			d.Seen = l.view()
		}
		d.See(who, d.Seen)
	}
	return d
}

func says(answer api.Answer) *api.Verdict { return &api.Verdict{Answer: answer} }

func TestAnAnswerThatDoesNotAllowGivesBackWhatWasReserved(t *testing.T) {
	t.Parallel()
	n, ctx := &aNode{}, t.Context()
	l := &nodeView{node: n.node()}
	first := onNode(l, policytest.Question("a"), "", "")
	before := onNode(l, policytest.Question("b"), "", "")
	if !l.reserveIfCurrent(ctx, first, says(api.Allow)) {
		t.Fatal("the newest does not count")
	}
	if l.reserveIfCurrent(ctx, before, says(api.Allow)) {
		t.Error("what was seen before counts")
	}
	if !l.reserveIfCurrent(ctx, before, says(api.Hold)) {
		t.Error("a pod that takes nothing has to wait")
	}
	full := onNode(l, policytest.Question("b"), "", "")
	if !l.reserveIfCurrent(ctx, onNode(l, policytest.Question("a"), "", ""), says(api.Deny)) || len(l.view().Pods) != 0 {
		t.Errorf("reserved: %+v", l.view().Pods)
	}
	if l.reserveIfCurrent(ctx, full, says(api.Allow)) {
		t.Error("what was seen before it was given back counts")
	}
	if l.reserveIfCurrent(ctx, full, says(api.Deny)) {
		t.Error("a denial counts by what was seen before it was given back")
	}
	if !l.reserveIfCurrent(ctx, onNode(l, policytest.Question("b"), ""), says(api.Allow)) {
		t.Error("who has not looked has to wait")
	}
}

func TestADecisionIsMadeAgainOnlyIfWhatItSawIsAnother(t *testing.T) {
	t.Parallel()
	// admits returns a step that admits a pod of a tenant whose policies did not look at the
	// node.
	admits := func(name, tenant string) func(*nodeView, *aNode) {
		return func(l *nodeView, _ *aNode) {
			l.reserveIfCurrent(t.Context(), onNode(l, policytest.Question(name, in(tenant)), tenant), says(api.Allow))
		}
	}
	runs := func(pods ...NodePod) func(*nodeView, *aNode) {
		return func(_ *nodeView, n *aNode) { n.set(pods...) }
	}
	for name, test := range map[string]struct {
		sees      []string
		meanwhile func(l *nodeView, n *aNode)
		want      bool
	}{
		"nothing happened":                  {[]string{"a"}, func(*nodeView, *aNode) {}, true},
		"a pod of the tenant was admitted":  {[]string{"a"}, admits("other", "a"), false},
		"one of another tenant was":         {[]string{"a"}, admits("other", "b"), true},
		"which the operator's policies see": {[]string{"a", ""}, admits("other", "b"), false},
		"what is reserved was so again":     {[]string{"a"}, admits("reserved", "a"), true},
		"what was reserved runs":            {[]string{"a"}, runs(aPod("a", "running"), aPod("a", "reserved")), true},
		"a pod has ended":                   {[]string{"a"}, runs(), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := &aNode{}
			n.set(aPod("a", "running"))
			l := &nodeView{node: n.node()}
			admits("reserved", "a")(l, n)
			d := onNode(l, policytest.Question("web", in("a")), "a", test.sees...)
			test.meanwhile(l, n)
			if got := l.reserveIfCurrent(t.Context(), d, says(api.Allow)); got != test.want {
				t.Errorf("it counts: %v, want %v", got, test.want)
			}
		})
	}
}

func aPod(namespace, name string) NodePod {
	return NodePod{policytest.SomePod(name, func(p *v1.Pod) { p.Namespace = namespace }), "static"}
}

func TestADenialByWhatIsNotSoAnyMoreIsMadeAgain(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("quota", "quota 1", reads)
		n := &aNode{}
		n.set(aPod("shop", "a"))
		s.Edit = func(_ string, r *wasm.Result) {
			if r.Answer == api.Hold {
				r.Answer = api.Deny
				n.set() // the pod terminates while the plugin answers
			}
		}
		p, _ := listed(t, d, s, func(c *Config) { c.Facts = n.node() })
		run(t, p)
		if got := ask(t, p, policytest.Question("web")); got.Answer != api.Allow {
			t.Errorf("the last pod has ended, and the answer is %s", got.Answer)
		}
	})
}

func TestADecisionThatOthersOvertakeIsMade(t *testing.T) {
	t.Parallel()
	const onlyVictim = "\n[match]\nconditions = [\"object.metadata.name == 'victim'\"]"
	for name, test := range map[string]struct {
		slow  func(d policytest.Tree) policytest.Tree // the directory of the slow policy
		comes string                                  // the tenant whose pods arrive at the same time
		most  int
	}{
		"the operator's policy": {func(d policytest.Tree) policytest.Tree { return d }, "a", mostTries + 1},
		"the tenant's own":      {func(d policytest.Tree) policytest.Tree { return d.Of("b") }, "b", mostTries + 1},
		"it sees none of those": {func(d policytest.Tree) policytest.Tree { return d.Of("b") }, "a", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				for _, other := range []policytest.Tree{d, d.Of("a"), d.Of("b")} {
					other.Policy("fast", "allow")
				}
				test.slow(d).Policy("slow", "quota 100000", reads, onlyVictim)
				s.Edit = func(policy string, _ *wasm.Result) {
					if policy == "slow" {
						time.Sleep(5 * time.Millisecond)
					}
				}
				p, _ := listed(t, d, s, tenanted(d, "a", "b"), func(c *Config) { c.Facts, c.Evaluators = (&aNode{}).node(), 3 })
				stop := run(t, p)
				ask(t, p, policytest.Question("first", in("a")))
				ctx, cancel := context.WithCancel(t.Context())
				var coming sync.WaitGroup
				coming.Go(func() {
					for i := 0; ctx.Err() == nil; i++ {
						p.Judge(policytest.Question(fmt.Sprint("p", i), in(test.comes)), func(api.Verdict) {})
						time.Sleep(2 * time.Millisecond)
					}
				})
				defer coming.Wait()
				defer cancel()
				got := ask(t, p, policytest.Question("victim", in("b")))
				asked := 0
				for _, call := range s.Calls() {
					if call == "slow victim" {
						asked++
					}
				}
				if got.Answer != api.Allow || asked > test.most {
					t.Errorf("it is answered %s, and the policy was asked %d times, want %d", got.Answer, asked, test.most)
				}
				synctest.Wait()
				if p.nodeView.exclusive != nil {
					t.Error("others are still held off")
				}
				stop()
			})
		})
	}
}

func TestOfPodsThatOvertakeEachOtherExactlyTheQuotaIsAdmitted(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("quota", "quota 10", reads)
		d.Of("a").Policy("own", "quota 3", reads)
		took := time.Duration(0)
		var mu sync.Mutex
		s.Edit = func(string, *wasm.Result) {
			mu.Lock()
			took = (took + 7*time.Millisecond) % (20 * time.Millisecond)
			nap := took
			mu.Unlock()
			time.Sleep(nap)
		}
		d.Of("b").Policy("own", "allow")
		p, _ := listed(t, d, s, tenanted(d, "a", "b"), func(c *Config) { c.Facts, c.Evaluators = (&aNode{}).node(), 8 })
		run(t, p)
		answers := map[string]int{}
		var all sync.WaitGroup
		for i := range 50 {
			for _, namespace := range []string{"a", "b"} {
				all.Add(1)
				p.Judge(policytest.Question(fmt.Sprint(namespace, i), in(namespace)), func(v api.Verdict) {
					mu.Lock()
					answers[namespace+" "+string(v.Answer)]++
					mu.Unlock()
					all.Done()
				})
			}
		}
		all.Wait()
		if answers["a allow"] > 3 || answers["a allow"]+answers["b allow"] != 10 || answers["a hold"]+answers["b hold"] != 90 {
			t.Errorf("answers %v", answers)
		}
	})
}

func TestOthersWaitForADecisionOnlyIfTheyChangeWhatItSees(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, _ *policytest.Scripts) {
		t := d.T
		l := &nodeView{node: (&aNode{}).node()}
		alone := onNode(l, policytest.Question("alone", in("a")), "a", "a")
		l.acquire(t.Context(), alone)
		var answered []string
		var mu sync.Mutex
		var all sync.WaitGroup
		answer := func(name, tenant string, v *api.Verdict) {
			all.Go(func() {
				l.reserveIfCurrent(t.Context(), onNode(l, policytest.Question(name, in(tenant)), tenant), v)
				mu.Lock()
				defer mu.Unlock()
				answered = append(answered, name)
			})
			synctest.Wait()
		}
		answer("own", "a", says(api.Allow))
		answer("other", "b", says(api.Allow))
		answer("held", "a", says(api.Hold))
		if got := strings.Join(answered, " "); got != "other held" {
			t.Errorf("answered: %s", got)
		}
		alone.See("", alone.Seen)
		answer("another", "b", says(api.Allow))
		if l.reserveIfCurrent(t.Context(), alone, says(api.Allow)) {
			t.Error("an operator's policy has looked, too, and nobody waited for that")
		}
		l.acquire(t.Context(), alone)
		answer("third", "b", says(api.Allow))
		if got := strings.Join(answered, " "); got != "other held another" {
			t.Errorf("answered: %s", got)
		}
		if !l.reserveIfCurrent(t.Context(), alone, says(api.Allow)) {
			t.Error("all wait for it, and it does not count")
		}
		l.release(alone)
		all.Wait()
		if len(l.view().Pods) != 5 {
			t.Errorf("admitted: %+v", l.view().Pods)
		}
	})
}

func TestAnUpdateOfAPodCountsOnce(t *testing.T) {
	t.Parallel()
	n := &aNode{pods: []NodePod{{policytest.SomePod("a"), "static"}}}
	l := &nodeView{node: n.node()}
	q := policytest.Question("a", func(q *api.Question) {
		q.Op = api.UpdateOp
		q.Pod.Labels = map[string]string{"tier": "db"}
	})
	l.reserveIfCurrent(t.Context(), onNode(l, q, ""), says(api.Allow))
	if got := l.view().Pods; len(got) != 1 || got[0].Labels["tier"] != "db" {
		t.Errorf("%+v, want the newer version", got)
	}
	n.pods[0].Pod = q.Pod.DeepCopy()
	if l.view(); len(l.reserved) != 0 {
		t.Errorf("what runs is reserved on: %v", l.reserved)
	}
}

func TestNothingIsReservedForAPodThatEndedBeforeAnybodyLooked(t *testing.T) {
	t.Parallel()
	again := func(q *api.Question) { q.Pod.Labels = map[string]string{"tier": "db"} }
	update := func(q *api.Question) { q.Op = api.UpdateOp }
	for name, test := range map[string]struct {
		ended []*v1.Pod
		as    func(*api.Question)
		want  int
	}{
		"nothing has ended":                  {nil, again, 1},
		"it has":                             {[]*v1.Pod{policytest.Question("a", again).Pod}, again, 0},
		"one that had its UID before it has": {[]*v1.Pod{policytest.SomePod("a")}, again, 1},
		"it is an update, which starts none": {[]*v1.Pod{policytest.SomePod("a")}, update, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := &aNode{ended: test.ended}
			l := &nodeView{node: n.node()}
			l.reserveIfCurrent(t.Context(), onNode(l, policytest.Question("a", again, test.as), ""), says(api.Allow))
			if l.view(); len(l.reserved) != test.want {
				t.Errorf("%d pods are reserved, want %d", len(l.reserved), test.want)
			}
		})
	}
}

func TestNothingIsReservedForAVersionThatWasTakenBack(t *testing.T) {
	t.Parallel()
	n := &aNode{pods: []NodePod{{policytest.SomePod("a"), "static"}}}
	l := &nodeView{node: n.node()}
	q := policytest.Question("a", func(q *api.Question) {
		q.Op = api.UpdateOp
		q.Pod.Labels = map[string]string{"tier": "db"}
	})
	d := onNode(l, q, "")
	d.Instance = "newer"
	l.reserveIfCurrent(t.Context(), d, says(api.Allow))
	n.wants = map[types.UID]string{"uid-a": "newer"}
	if got := l.view().Pods; len(got) != 1 || got[0].Labels["tier"] != "db" {
		t.Errorf("%+v, want the newer version", got)
	}
	n.wants["uid-a"] = "older"
	if got := l.view().Pods; len(got) != 1 || got[0].Labels["tier"] != "web" || len(l.reserved) != 0 {
		t.Errorf("%+v, want the version that runs, and nothing reserved", got)
	}
}

func TestWhatIsKnownOfAPod(t *testing.T) {
	t.Parallel()
	priority := int32(7)
	p := policytest.SomePod("a", func(p *v1.Pod) {
		p.Spec.Priority = &priority
		p.Spec.InitContainers = []v1.Container{{
			Ports:     []v1.ContainerPort{{HostPort: 1}},
			Resources: v1.ResourceRequirements{Requests: v1.ResourceList{"cpu": resource.MustParse("2")}},
		}}
		p.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: 80}, {HostPort: 8080}}
		p.Spec.Containers[0].Resources.Requests = v1.ResourceList{"cpu": resource.MustParse("1500m"), "memory": resource.MustParse("1Gi")}
	})
	want := abi.NodePod{
		Namespace: "shop", Name: "a", UID: "uid-a", Source: "static", Labels: map[string]string{"tier": "web"}, Priority: 7,
		Requests: map[string]string{"cpu": "2", "memory": "1Gi"}, HostPorts: []int32{1, 8080},
	}
	if diff := cmp.Diff(want, factOf(NodePod{p, "static"})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPoliciesSeeOfTheNodeWhatIsTheirs(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("all", "allow", reads)
		d.Policy("blind", "allow")
		d.Hooked("later", api.HookFilter, "pass", reads)
		d.Of("a").Policy("own", "allow", reads)
		in := func(namespace string) NodePod {
			return NodePod{policytest.SomePod("p", func(p *v1.Pod) { p.Namespace, p.UID = namespace, types.UID(namespace) }), "static"}
		}
		n := &aNode{pods: []NodePod{in("b"), in("shop"), in("a-web")}}
		p, _ := listed(t, d, s, tenanted(d, "a"), func(c *Config) { c.Facts = n.node() })
		run(t, p)
		ask(t, p, policytest.Question("web", func(q *api.Question) { q.Pod.Namespace = "a-web" }))
		filterBy(t, p, filterQuestion("shop"))
		for policy, want := range map[string]string{"all": "a-web/p b/p shop/p", "own": "a-web/p", "later": "a-web/p a-web/web b/p shop/p"} {
			facts := s.Requests[policy].Node
			if facts == nil || strings.Join(names(facts), " ") != want || facts.Labels["zone"] != "a" || facts.Allocatable["cpu"] != "4" {
				t.Errorf("%s sees %+v", policy, facts)
			}
		}
		if s.Requests["blind"].Node != nil {
			t.Errorf("a policy without the capability sees %+v", s.Requests["blind"].Node)
		}
	})
}

func TestWithoutFactsAboutTheNodeThePluginIsToldNone(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("quota", "quota 2", reads, "[[test]]\npod = \"a.yaml\"\nexpect = \"allow\"")
		d.Write("a.yaml", policytest.ManifestText)
		p, _ := listed(t, d, s)
		run(t, p)
		if got := ask(t, p, policytest.Question("web")); got.Reason != api.ReasonPolicyFailed {
			t.Errorf("verdict %+v", got)
		}
	})
}

// TestWhatWasAdmittedBeforeARestartCountsUntilItRuns checks the node view of admitted
// updates. An update that a filter defers is not judged again after a restart.
func TestWhatWasAdmittedBeforeARestartCountsUntilItRuns(t *testing.T) {
	t.Parallel()
	requests := func(cpu string) func(*api.Question) {
		return func(q *api.Question) {
			q.Pod.Spec.Containers[0].Resources.Requests = v1.ResourceList{"cpu": resource.MustParse(cpu)}
		}
	}
	n := &aNode{}
	runs := policytest.Question("a", requests("1"))
	n.set(NodePod{runs.Pod, "static"})
	p := New(Config{Facts: n.node(), Node: "node-1", Logger: slog.New(slog.DiscardHandler), Now: time.Now})
	sees := func(when, want string) {
		t.Helper()
		if got := p.nodeView.view().Pods; len(got) != 1 || got[0].Requests["cpu"] != want {
			t.Errorf("%s: policies see %+v, want %s", when, got, want)
		}
	}
	newer := policytest.Question("a", requests("3"), func(q *api.Question) { q.Op, q.Old = api.UpdateOp, runs.Pod })
	sees("nobody has said what waits", "1")
	p.Admitted(newer, api.Verdict{Answer: api.Deny})
	sees("what was denied", "1")
	p.Admitted(newer, *says(api.Allow))
	sees("a newer version waits", "3")
	changed := policytest.Question("a", requests("2"))
	p.Admitted(newer, api.Verdict{Answer: api.Allow, Mutation: &pod.Mutation{Final: changed.Pod}})
	sees("it waits as policies made it", "2")
	instance, err := pod.Instance(newer.Pod)
	policytest.Must(t, err)
	n.wants = map[types.UID]string{"uid-a": instance}
	sees("it is still wanted", "2")
	n.wants["uid-a"] = "another"
	sees("it is not wanted any more", "1")
}

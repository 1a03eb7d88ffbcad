package policy

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/rollout"
)

func TestQuestionsWaitForTheFirstAttempt(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("slow", "wait", "[[test]]\npod = \"a.yaml\"\nexpect = \"deny\"")
		d.Write("a.yaml", policytest.ManifestText)
		p, _ := listed(t, d, s)
		answered := make(chan api.Verdict, 1)
		p.Judge(policytest.Question("web"), func(v api.Verdict) { answered <- v })
		run(t, p)
		<-s.Waits
		time.Sleep(time.Hour)
		select {
		case v := <-answered:
			t.Errorf("verdict %+v before the first set was loaded", v)
		default:
		}
		close(s.Free)
		if v := <-answered; v.Answer != api.Deny || v.Policy != "slow" {
			t.Errorf("verdict %+v, want that of the first set", v)
		}
	})
}

func TestWithoutAGoodSetPodsAreHeldUntilThereIsOne(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Write("a.toml", policytest.DocumentOf("a", "deny", "mode = \"on\"", "priority = -1"))
		d.Write("b.toml", policytest.DocumentOf("b", "deny"))
		p, _ := listed(t, d, s)
		run(t, p)
		began := time.Now()
		got := ask(t, p, policytest.Question("web"))
		want := api.Verdict{
			Answer: api.Hold, Reason: "PoliciesNotReady", At: got.At,
			Message: fmt.Sprintf("no policies of %s are in force yet: %s/a.toml:6: mode: want \"enforce\", \"warn\", \"audit\", \"shadow\", \"member\" or \"off\", found \"on\" (and 2 more)", d.Dir, d.Dir),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("verdict (-want +got):\n%s", diff)
		}
		if waited := got.At.Sub(began); waited > rollout.SettleTime {
			t.Errorf("the verdict took %s", waited)
		}
		if ready := p.Sets()[0].Ready; ready || fired(p) {
			t.Errorf("ready = %t, or a change is told", ready)
		}
		d.Remove("a.toml")
		d.Policy("b", "deny")
		<-p.Changed()
		if got := ask(t, p, policytest.Question("web")); got.Answer != api.Deny || got.Policy != "b" {
			t.Errorf("verdict %+v, want that of the set", got)
		}
		if !p.Sets()[0].Ready {
			t.Error("the set is not ready")
		}
		// The last valid set stays in force.
		d.Remove("b.wasm")
		time.Sleep(time.Minute)
		if got := ask(t, p, policytest.Question("web")); got.Answer != api.Deny || got.Policy != "b" {
			t.Errorf("verdict %+v, want that of the set", got)
		}
	})
}

func TestSeveralNewSetsAreOneChangeForWhoDoesNotLook(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("a", "allow")
		p, _ := listed(t, d, s)
		run(t, p)
		for i := range 3 {
			time.Sleep(time.Minute)
			d.Policy("a", fmt.Sprintf("allow # %d", i))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		wantState(d, p, "after four sets", "4 [a] ", true)
		wantState(d, p, "taken once", "4 [a] ", false)
	})
}

func TestAMirrorPodIsAllowedAndNobodyAsked(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{"with a good set": "deny", "without one": "broken module"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				d.Policy("a", script)
				p, _ := listed(t, d, s)
				run(t, p)
				mirror := policytest.Question("web", func(q *api.Question) {
					q.Pod = policytest.SomePod("web", func(p *v1.Pod) { p.Annotations[pod.AnnotationMirror] = "x" })
				})
				got := ask(t, p, mirror)
				if diff := cmp.Diff(api.Verdict{Answer: api.Allow, At: got.At}, got); diff != "" {
					t.Errorf("verdict (-want +got):\n%s", diff)
				}
				if calls, on := s.Calls(), p.Decisions(); len(calls)+len(on) > 0 {
					t.Errorf("calls %v, decisions %v", calls, on)
				}
			})
		})
	}
}

func TestADecisionIsOnRecord(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("a", "deny No no")
		p, _ := listed(t, d, s)
		run(t, p)
		q := policytest.Question("web", func(q *api.Question) { q.Replaces, q.Old = "uid-old", policytest.SomePod("old") })
		first := ask(t, p, q)
		time.Sleep(time.Second)
		last := ask(t, p, q)
		other := ask(t, p, policytest.Question("api"))
		instance, err := pod.Instance(q.Pod)
		policytest.Must(t, err)
		otherInstance, err := pod.Instance(policytest.SomePod("api"))
		policytest.Must(t, err)
		want := []api.Decision{
			{
				First: first.At, Last: last.At, Count: 2, Hook: "admit", Op: api.Add, Namespace: "shop", Name: "web", UID: "uid-web", Instance: instance,
				Replaces: "uid-old", Source: "static", Document: "web.yaml#0", Verdict: last,
			},
			{
				First: other.At, Last: other.At, Count: 1, Hook: "admit", Op: api.Add, Namespace: "shop", Name: "api", UID: "uid-api", Instance: otherInstance,
				Source: "static", Document: "api.yaml#0", Verdict: other,
			},
		}
		if diff := cmp.Diff(want, p.Decisions()); diff != "" {
			t.Errorf("decisions (-want +got):\n%s", diff)
		}
		if instance == "" || !last.At.After(first.At) {
			t.Errorf("instance %q, from %s to %s", instance, first.At, last.At)
		}
	})
}

func TestQuestionsKnowTheKindOfTheirSource(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("a", "deny", "[match]\nsources = [\"api\"]")
		p, _ := listed(t, d, s)
		run(t, p)
		for source, want := range map[string]api.Answer{"static": api.Allow, "cluster": api.Deny, "removed": api.Deny} {
			q := policytest.Question("web", func(q *api.Question) { q.Origin.Source = source })
			if got := ask(t, p, q); got.Answer != want {
				t.Errorf("source %s: %s, want %s", source, got.Answer, want)
			}
		}
	})
}

func TestTheDefaultVerdictIsTheConfigurations(t *testing.T) {
	t.Parallel()
	for fallback, want := range map[api.Answer]api.Answer{"": api.Allow, api.Allow: api.Allow, api.Hold: api.Hold, api.Deny: api.Deny} {
		bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
			t := d.T
			d.Policy("a", "abstain")
			p, _ := listed(t, d, s, func(c *Config) { c.DefaultVerdict = fallback })
			run(t, p)
			if got := ask(t, p, policytest.Question("web")); got.Answer != want {
				t.Errorf("default %q: %s, want %s", fallback, got.Answer, want)
			}
		})
	}
}

func TestJudgeReturnsWhateverThePluginsDo(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("a", "wait")
		p, _ := listed(t, d, s)
		run(t, p)
		var mu sync.Mutex
		var answered, want []string
		for i := range 100 {
			name := strconv.Itoa(i)
			want = append(want, name)
			p.Judge(policytest.Question(name), func(api.Verdict) {
				mu.Lock()
				defer mu.Unlock()
				answered = append(answered, name)
			})
		}
		<-s.Waits
		synctest.Wait()
		if len(answered) > 0 || len(s.Calls()) != 1 {
			t.Errorf("one evaluator: %d answers, calls %v", len(answered), s.Calls())
		}
		close(s.Free)
		synctest.Wait()
		if diff := cmp.Diff(want, answered); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
}

func TestAsManyQuestionsAreJudgedAtOnceAsThereAreEvaluators(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("a", "wait")
		p, _ := listed(t, d, s, func(c *Config) { c.Evaluators = 3 })
		run(t, p)
		for i := range 10 {
			p.Judge(policytest.Question(strconv.Itoa(i)), func(api.Verdict) {})
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := len(s.Calls()); n != 3 {
			t.Errorf("%d calls at once, want 3", n)
		}
		close(s.Free)
	})
}

func TestThereIsAlwaysAnEvaluatorAndAProcessorToSpare(t *testing.T) {
	t.Parallel()
	if n := (&Config{}).evaluators(); n < 1 {
		t.Errorf("%d evaluators", n)
	}
	if n := (&Config{Evaluators: 7}).evaluators(); n != 7 {
		t.Errorf("%d evaluators, want those of the configuration", n)
	}
}

func TestQuestionsAndChangesAtOnce(t *testing.T) {
	t.Parallel()
	d, s := policytest.NewTree(t), policytest.NewScripts()
	d.Policy("a", "deny-image img")
	c := testConfig(d, s)
	c.Evaluators = 4
	l := &policytest.Logs{}
	c.Logger = l.Logger()
	p := New(c)
	stop := run(t, p)

	var askers sync.WaitGroup
	for i := range 4 {
		askers.Go(func() {
			for n := range 200 {
				answer := make(chan api.Verdict, 1)
				p.Judge(policytest.Question(fmt.Sprintf("%d-%d", i, n)), func(v api.Verdict) { answer <- v })
				if v := <-answer; v.Answer != api.Deny || v.Reason != "ImageNotAllowed" || len(v.Sets) != 1 {
					t.Errorf("verdict %+v", v)
					return
				}
				p.Sets()
				p.Decisions()
				time.Sleep(time.Millisecond)
			}
		})
	}
	for i := range 4 {
		if i == 0 {
			ask(t, p, policytest.Question("first")) // returns when the first set is loaded
		} else {
			<-p.Changed()
		}
		text := fmt.Sprintf("deny-image img # %d", i)
		policytest.Must(t, os.WriteFile(d.Dir+"/.new", []byte(policytest.DocumentOf("a", text)), 0o600))
		d.Write("a.wasm", text)
		policytest.Must(t, os.Rename(d.Dir+"/.new", d.Dir+"/a.toml"))
	}
	askers.Wait()
	<-p.Changed()
	stop()
	if in := s.InUse(); len(in) > 0 {
		t.Errorf("still loaded: %v", in)
	}
	if bad := slices.DeleteFunc(l.Lines(), func(line string) bool { return strings.HasPrefix(line, "level=INFO") }); len(bad) > 0 {
		t.Errorf("log: %q", bad)
	}
}

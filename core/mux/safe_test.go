package mux

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
)

// changeGate allows new pods. For a question about a change or a replacement it returns answer.
type changeGate struct {
	changed, node chan struct{}

	mu     sync.Mutex
	answer api.Answer
	given  []api.Answer
}

func (g *changeGate) Changed() <-chan struct{} { return g.changed }

func (g *changeGate) NodeChanged() <-chan struct{} { return g.node }

func (g *changeGate) Admitted(api.Question, api.Verdict) {}

func (g *changeGate) Judge(q api.Question, answer func(api.Verdict)) {
	v := api.Verdict{Answer: api.Allow}
	if q.Old != nil {
		g.mu.Lock()
		v.Answer, v.Reason, v.Message, v.Policy = g.answer, "Changed", "it changed", "p"
		g.given = append(g.given, v.Answer)
		g.mu.Unlock()
	}
	answer(v)
}

// become changes the answer of the gate, as other policies would.
func (g *changeGate) become(answer api.Answer) {
	g.mu.Lock()
	g.answer = answer
	g.mu.Unlock()
	g.changed <- struct{}{}
}

// gave returns the answers since the last call, without consecutive repetitions.
func (g *changeGate) gave() []api.Answer {
	g.mu.Lock()
	defer g.mu.Unlock()
	given := g.given
	g.given = nil
	return slices.Compact(given)
}

func debugger(p *v1.Pod) {
	p.Spec.EphemeralContainers = []v1.EphemeralContainer{{EphemeralContainerCommon: v1.EphemeralContainerCommon{Name: "debug", Image: "tools:1"}}}
}

func TestAChangeOfAPodThatRunsReachesItOnlyWhenItIsAllowed(t *testing.T) {
	t.Parallel()
	labelled := func(p *v1.Pod) { p.Labels = map[string]string{"tier": "web"} }
	grace := func(p *v1.Pod) { p.Spec.TerminationGracePeriodSeconds = new(int64(5)) }
	for name, tc := range map[string]struct {
		source string
		old    api.Document
		newer  api.Document
		want   []string
	}{
		"another image":                       {"api", from("api", "web", "u1", "web:1"), from("api", "web", "u1", "web:2"), ops("UPDATE u1")},
		"a label":                             {"api", from("api", "web", "u1", "web:1"), from("api", "web", "u1", "web:1", labelled), ops("UPDATE u1")},
		"an ephemeral container":              {"api", from("api", "web", "u1", "web:1"), from("api", "web", "u1", "web:1", debugger), ops("UPDATE u1")},
		"an edited manifest":                  {"one", from("one", "web", "u1", "web:1"), from("one", "web", "u2", "web:1", grace), ops("REMOVE u1 for u2", "ADD u2 for u1")},
		"an edited manifest with a fixed uid": {"one", from("one", "web", "u1", "web:1"), from("one", "web", "u1", "web:2"), ops("UPDATE u1")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				gate := &changeGate{changed: make(chan struct{}, 1), node: make(chan struct{}), answer: api.Deny}
				a := enter(t, Config{Gate: gate})
				a.deliver(tc.source, tc.old)
				if diff := cmp.Diff(ops("ADD u1"), a.got()); diff != "" {
					t.Fatalf("at first (-want +got):\n%s", diff)
				}
				calm := func(when string, want api.Answer) {
					t.Helper()
					if got := a.got(); got != nil {
						t.Errorf("%s: %q", when, got)
					}
					if gave := gate.gave(); !slices.Equal(gave, []api.Answer{want}) {
						t.Errorf("%s: answers %q, want only %s", when, gave, want)
					}
					if w := a.board.last["u1"]; w.Verdict.Answer != want || w.Running == nil || w.Running.UID != "u1" {
						t.Errorf("%s: what waits is %+v", when, w)
					}
					if !a.mux.Wanted("u1") {
						t.Errorf("%s: what runs is not wanted", when)
					}
				}
				a.deliver(tc.source, tc.newer)
				calm("denied", api.Deny)
				gate.become(api.Hold)
				calm("held", api.Hold)
				time.Sleep(time.Hour)
				calm("held for an hour", api.Hold)
				gate.become(api.Deny)
				calm("denied again", api.Deny)
				gate.become(api.Allow)
				if diff := cmp.Diff(tc.want, a.got()); diff != "" {
					t.Errorf("allowed (-want +got):\n%s", diff)
				}
				if _, waits := a.board.last["u1"]; waits {
					t.Error("it is still said to wait")
				}
				a.stop()
			})
		})
	}
}

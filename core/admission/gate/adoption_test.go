package gate

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// denying is a gate that denies every question and records it.
type denying struct{ asked []string }

func (d *denying) Judge(q api.Question, answer func(api.Verdict)) {
	d.asked = append(d.asked, string(q.Op)+" "+string(q.Pod.UID))
	answer(api.Verdict{Answer: api.Deny, Message: "no"})
}

func (*denying) Admitted(api.Question, api.Verdict) {}

func (*denying) Changed() <-chan struct{} { return nil }

func (*denying) NodeChanged() <-chan struct{} { return nil }

// running is the view that an Adoption has of the runtime.
type running struct {
	list   []status.ObservedPod
	at     time.Time
	ending bool
}

func (r *running) Pods() ([]status.ObservedPod, time.Time) { return r.list, r.at }
func (r *running) TerminationRequested(types.UID) bool     { return r.ending }

func TestWhatRanAtTheStartIsTakenAsAdmittedWhereMemoryIsLost(t *testing.T) {
	t.Parallel()
	web, changed := adoptee("u1", "h1"), adoptee("u1", "h2")
	died := func(r *running, _ *Adoption) { r.list = nil }
	for _, tc := range []struct {
		name     string
		ran      bool // in the version web
		dead     bool // no container ran when the agent started
		kept     bool // the agent's state is complete
		kubelets bool // its sandbox has no mark of this agent
		// then runs between the list and the question.
		then  func(*running, *Adoption)
		ask   *v1.Pod
		asked []string
		want  api.Answer
	}{
		{name: "a pod that did not run is judged", ask: web, asked: []string{"ADD u1"}, want: api.Deny},
		{name: "a pod that ran just so is admitted", ran: true, ask: web, want: api.Allow},
		{name: "a pod that was dead is judged", ran: true, dead: true, ask: web, asked: []string{"ADD u1"}, want: api.Deny},
		{name: "where nothing was lost everything is judged", ran: true, kept: true, ask: web, asked: []string{"ADD u1"}, want: api.Deny},
		{name: "a pod that has died since is judged", ran: true, then: died, ask: web, asked: []string{"ADD u1"}, want: api.Deny},
		{
			name: "a pod that is being ended is judged", ran: true, ask: web, asked: []string{"ADD u1"}, want: api.Deny,
			then: func(r *running, _ *Adoption) { r.ending = true },
		},
		{
			name: "a pod that has ended and runs again is judged", ran: true, ask: web, asked: []string{"ADD u1"}, want: api.Deny,
			then: func(_ *running, a *Adoption) { a.Ended("u1") },
		},
		{name: "a pod in another version is judged as a new one, and not rejected", ran: true, ask: changed, asked: []string{"ADD u1"}, want: api.Hold},
		{name: "what a kubelet made is taken as it runs", ran: true, kept: true, kubelets: true, ask: changed, want: api.Allow},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			gate, r := &denying{}, &running{at: time.Now()}
			if tc.ran {
				r.list = append(r.list, observed(t, web, !tc.dead))
			}
			if tc.kubelets {
				r.list[0].Sandboxes[0].Annotations = nil
			}
			a := &Adoption{Gate: gate, Runtime: r, Lost: func() bool { return !tc.kept }, Log: slog.New(slog.DiscardHandler)}
			if !a.look() {
				t.Fatal("the list was not seen")
			}
			if tc.then != nil {
				tc.then(r, a)
			}
			for range 2 { // the same question again has the same answer
				var got api.Answer
				a.Judge(api.Question{Op: api.Add, Pod: tc.ask}, func(v api.Verdict) { got = v.Answer })
				if got != tc.want {
					t.Errorf("answer %q, want %q", got, tc.want)
				}
				if !slices.Equal(gate.asked, tc.asked) {
					t.Errorf("the policies were asked %q, want %q", gate.asked, tc.asked)
				}
				gate.asked = nil
			}
		})
	}
}

// changing is a gate that allows everything. Its verdicts say that policies changed the pod.
type changing struct {
	denying
	hash string
}

func (c *changing) Judge(q api.Question, answer func(api.Verdict)) {
	c.asked = append(c.asked, string(q.Op)+" "+string(q.Pod.UID))
	v := api.Verdict{Answer: api.Allow}
	if c.hash != "" {
		v.Mutation = &pod.Mutation{FinalHash: c.hash, Final: q.Pod}
	}
	answer(v)
}

func TestAPodThatRunsAsPoliciesChangedItGoesOnOnlyAsThat(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		now   string // the hash of the pod that policies produce now
		base  string // the hash of the pod that a merge policy produces before them
		ran   string // the hash of the running pod that policies produced, empty if they changed nothing
		want  api.Answer
		asked bool
	}{
		{name: "the same", now: "f1", ran: "f1", want: api.Allow, asked: true},
		{name: "something else", now: "f2", ran: "f1", want: api.Hold, asked: true},
		{name: "nothing", ran: "f1", want: api.Hold, asked: true},
		{name: "policies had changed nothing", now: "f1", want: api.Allow},
		{name: "the same by a merge policy", base: "f1", ran: "f1", want: api.Allow, asked: true},
		{name: "something else by a merge policy", base: "f2", ran: "f1", want: api.Hold, asked: true},
		{name: "the same on top of a merge policy", base: "f0", now: "f1", ran: "f1", want: api.Allow, asked: true},
		{name: "no merge policy had changed anything", base: "f1", want: api.Allow},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			web := adoptee("u1", "h1")
			r := &running{at: time.Now(), list: []status.ObservedPod{observed(t, web, true)}}
			annotations := r.list[0].Sandboxes[0].Annotations
			annotations[pod.AnnotationFinal] = "of its document"
			if tc.ran != "" {
				annotations[pod.AnnotationFinal], annotations[pod.AnnotationMutated] = tc.ran, "true"
			}
			gate := &changing{hash: tc.now}
			a := &Adoption{Gate: gate, Runtime: r, Lost: func() bool { return true }, Log: slog.New(slog.DiscardHandler)}
			if !a.look() {
				t.Fatal("the list was not seen")
			}
			q := api.Question{Op: api.Add, Pod: web}
			if tc.base != "" {
				q.Base = &pod.Mutation{Instance: annotations[pod.AnnotationInstance], FinalHash: tc.base, Final: web}
				q.Pod = web.DeepCopy()
				q.Pod.Annotations[pod.AnnotationHash] = "of what was made of it"
			}
			var got api.Verdict
			a.Judge(q, func(v api.Verdict) { got = v })
			got.Mutation = q.Base.Then(got.Mutation)
			if got.Answer != tc.want || (len(gate.asked) > 0) != tc.asked {
				t.Errorf("verdict %+v, asked %q", got, gate.asked)
			}
			if tc.want == api.Allow && tc.asked && got.Mutation.Hash() != tc.ran {
				t.Errorf("it goes on as %q", got.Mutation.Hash())
			}
			if adopted := tc.want == api.Hold || !tc.asked; adopted && got.Reason != api.ReasonAdopted {
				t.Errorf("it is held, or goes on, as %+v", got)
			}
		})
	}
}

// answering is a gate that always returns the same verdict.
type answering struct {
	denying
	verdict api.Verdict
}

func (g *answering) Judge(_ api.Question, answer func(api.Verdict)) { answer(g.verdict) }

func TestOfAPodThatRunsOnUntouchedIsSaidWhatThatDependsOn(t *testing.T) {
	t.Parallel()
	const lost = "the pod runs as policies had changed it, which the agent does not remember"
	for name, test := range map[string]struct {
		now  api.Verdict
		want api.Verdict
	}{
		"policies make something else of it": {
			api.Verdict{Answer: api.Allow, Policy: "quota", Mutation: &pod.Mutation{FinalHash: "f2", Final: adoptee("u1", "h1")}, ReadsNode: true},
			api.Verdict{Message: lost + " and which they do not do again; it runs on untouched until they do, or its document changes", ReadsNode: true},
		},
		"policies hold it for now": {
			api.Verdict{Answer: api.Hold, Reason: api.ReasonBudgetExhausted, Message: "all is spent", RetryAfter: time.Second},
			api.Verdict{Message: lost + "; it runs on untouched while they cannot say what they would make of it: all is spent", RetryAfter: time.Second},
		},
		"a policy holds it": {
			api.Verdict{Answer: api.Hold, Policy: "quota", Tenant: "a", Message: "no room", ReadsNode: true},
			api.Verdict{
				Message: lost + "; it runs on untouched while they cannot say what they would make of it: no room", Policy: "quota", Tenant: "a", ReadsNode: true,
			},
		},
		"a policy denies it": {
			api.Verdict{Answer: api.Deny, Policy: "images", Message: "a bad image"},
			api.Verdict{Message: lost + " and which they deny now; it runs on untouched: a bad image", Policy: "images"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			web := adoptee("u1", "h1")
			r := &running{at: time.Now(), list: []status.ObservedPod{observed(t, web, true)}}
			r.list[0].Sandboxes[0].Annotations[pod.AnnotationFinal], r.list[0].Sandboxes[0].Annotations[pod.AnnotationMutated] = "f1", "true"
			a := &Adoption{Gate: &answering{verdict: test.now}, Runtime: r, Lost: func() bool { return true }, Log: slog.New(slog.DiscardHandler)}
			a.look()
			var got api.Verdict
			a.Judge(api.Question{Op: api.Add, Pod: web}, func(v api.Verdict) { got = v })
			test.want.Answer, test.want.Reason = api.Hold, api.ReasonAdopted
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}

func TestQuestionsWaitUntilItIsKnownWhatRuns(t *testing.T) {
	t.Parallel()
	gate, r := &denying{}, &running{}
	a := &Adoption{Gate: gate, Runtime: r, Lost: func() bool { return true }, Log: slog.New(slog.DiscardHandler)}
	var got []api.Answer
	a.Judge(api.Question{Op: api.Add, Pod: adoptee("u1", "h1")}, func(v api.Verdict) { got = append(got, v.Answer) })
	if a.look() || got != nil || gate.asked != nil {
		t.Fatalf("before the runtime was listed: answers %v, asked %q; want neither", got, gate.asked)
	}
	r.list, r.at = []status.ObservedPod{observed(t, adoptee("u1", "h1"), true)}, time.Now()
	if !a.look() || !slices.Equal(got, []api.Answer{api.Allow}) {
		t.Errorf("after it: answers %v, want it admitted", got)
	}
	var none *Adoption
	none.Ended("u1") // an agent without policies has no Adoption
}

func adoptee(uid types.UID, hash string) *v1.Pod {
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: "web", Namespace: "default", UID: uid,
		Annotations: map[string]string{pod.AnnotationSource: "static", pod.AnnotationHash: hash},
	}}
}

func observed(t *testing.T, p *v1.Pod, ready bool) status.ObservedPod {
	t.Helper()
	instance, err := pod.Instance(p)
	if err != nil {
		t.Fatal(err)
	}
	return status.ObservedPod{UID: p.UID, Sandboxes: []status.ObservedSandbox{{
		Ready: ready, Annotations: map[string]string{pod.AnnotationInstance: instance},
	}}}
}

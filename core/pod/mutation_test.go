package pod_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// mutated returns the mutation that changes p with change.
func mutated(t *testing.T, p *v1.Pod, change func(*v1.Pod)) *pod.Mutation {
	t.Helper()
	final := p.DeepCopy()
	change(final)
	hash, err := pod.FinalHash(final)
	if err != nil {
		t.Fatal(err)
	}
	return &pod.Mutation{By: []pod.Mutator{{Policy: "p", Changed: []string{"/spec"}}}, FinalHash: hash, Final: final}
}

func TestALaterVersionIsThatOfTheSourceAsPoliciesChangedIt(t *testing.T) {
	t.Parallel()
	first := decoded(t)
	m := mutated(t, first, func(p *v1.Pod) {
		p.Spec.Containers[0].Image = "changed"
		p.Labels, p.Annotations["team"] = map[string]string{"team": "a"}, "a"
	})
	for name, tc := range map[string]struct {
		later func(*v1.Pod)
		want  func(*v1.Pod)
	}{
		"the same version": {func(*v1.Pod) {}, func(*v1.Pod) {}},
		"another status": {
			func(p *v1.Pod) { p.Status.Phase = v1.PodRunning },
			func(p *v1.Pod) { p.Status.Phase = v1.PodRunning },
		},
		"one that is to end": {
			func(p *v1.Pod) {
				p.DeletionTimestamp, p.DeletionGracePeriodSeconds = new(metav1.NewTime(time.Unix(1, 0))), new(int64(3))
			},
			func(p *v1.Pod) {
				p.DeletionTimestamp, p.DeletionGracePeriodSeconds = new(metav1.NewTime(time.Unix(1, 0))), new(int64(3))
			},
		},
		"other metadata": {
			func(p *v1.Pod) { p.ResourceVersion, p.Finalizers = "2", []string{"f"} },
			func(p *v1.Pod) { p.ResourceVersion, p.Finalizers = "2", []string{"f"} },
		},
		"what only this node annotates": {
			func(p *v1.Pod) {
				p.Annotations[pod.AnnotationSeen], p.Annotations[pod.AnnotationSource] = "now", "moved"
			},
			func(p *v1.Pod) {
				p.Annotations[pod.AnnotationSeen], p.Annotations[pod.AnnotationSource] = "now", "moved"
			},
		},
		"a default of a newer agent": {func(p *v1.Pod) { p.Spec.SchedulerName = "newer" }, func(*v1.Pod) {}},
		"what was not judged, of one that is to end": {
			func(p *v1.Pod) { p.Spec.Containers[0].Image, p.Labels = "evil", map[string]string{"x": "y"} },
			func(*v1.Pod) {},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			later, want := first.DeepCopy(), m.Final.DeepCopy()
			tc.later(later)
			tc.want(want)
			was := later.DeepCopy()
			got := m.Of(later)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(was, later); diff != "" {
				t.Errorf("the source's pod changed (-want +got):\n%s", diff)
			}
			if hash, err := pod.FinalHash(got); err != nil || hash != m.FinalHash {
				t.Errorf("hash %s, %v, want %s", hash, err, m.FinalHash)
			}
		})
	}
	if got := (*pod.Mutation)(nil).Of(first); got != first {
		t.Error("without changes it is another pod")
	}
}

func TestAMutationComesBackFromTheDisk(t *testing.T) {
	t.Parallel()
	p := decoded(t, "    resources: {limits: {cpu: 1500m}}")
	m := mutated(t, p, func(p *v1.Pod) { p.Labels = nil })
	text, err := json.Marshal(api.Verdict{Answer: api.Allow, Mutation: m})
	if err != nil {
		t.Fatal(err)
	}
	var back api.Verdict
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if d := pod.Diff(m.Of(p), back.Mutation.Of(p)); d != 0 {
		t.Errorf("they differ in %b", d)
	}
	if hash, err := pod.FinalHash(back.Mutation.Of(p)); err != nil || hash != m.FinalHash {
		t.Errorf("hash %s, %v, want %s", hash, err, m.FinalHash)
	}
	if err := back.Mutation.Usable(p); err != nil {
		t.Error(err)
	}
}

func TestAMutationOfAnotherPodIsOfNoUse(t *testing.T) {
	t.Parallel()
	p := decoded(t)
	for name, change := range map[string]func(*v1.Pod){
		"another UID":       func(p *v1.Pod) { p.UID = "x" },
		"another name":      func(p *v1.Pod) { p.Name = "x" },
		"another namespace": func(p *v1.Pod) { p.Namespace = "x" },
		"no containers":     func(p *v1.Pod) { p.Spec.Containers = nil },
	} {
		if err := mutated(t, p, change).Usable(p); err == nil {
			t.Errorf("%s: it can be used", name)
		}
	}
	if err := mutated(t, p, func(*v1.Pod) {}).Shown().Usable(p); err == nil {
		t.Error("one for display can be used")
	}
}

func TestAMutationIsToldInOneLine(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]*pod.Mutation{
		"": nil,
		"images of tenant a changed /a, /b; team changed /c and 3 more": {By: []pod.Mutator{
			{Policy: "images", Tenant: "a", Changed: []string{"/a", "/b"}}, {Policy: "team", Changed: []string{"/c"}, More: 3},
		}},
	} {
		if got := m.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	long := pod.Mutation{By: []pod.Mutator{{Policy: "p", Changed: []string{strings.Repeat("ä", 2000)}}}}
	if got := long.String(); len(got) > 1<<10+len("…") || !strings.HasSuffix(got, "…") {
		t.Errorf("%d bytes", len(got))
	}
}

func TestVerdictsThatChangeThePodOtherwiseAreNotTheSame(t *testing.T) {
	t.Parallel()
	plain, one, two := api.Verdict{Answer: api.Allow}, api.Verdict{Answer: api.Allow, Mutation: &pod.Mutation{FinalHash: "1"}}, api.Verdict{Answer: api.Allow, Mutation: &pod.Mutation{FinalHash: "2"}}
	if plain.Same(&one) || one.Same(&two) || !one.Same(&one) {
		t.Error("what they make of the pod does not count")
	}
}

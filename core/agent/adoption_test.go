package agent

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
	"github.com/wardlet/wardlet/core/status"
)

// denying is a gate that denies everything and notes what it was asked.
type denying struct{ asked []string }

func (d *denying) Judge(q pod.Question, answer func(pod.Verdict)) {
	d.asked = append(d.asked, string(q.Op)+" "+string(q.Pod.UID))
	answer(pod.Verdict{Answer: pod.Deny, Message: "no"})
}

func (*denying) Changed() <-chan struct{} { return nil }

// stored is a disk with records of one source.
type stored struct {
	mux.Documents
	records []state.Record
}

func (s stored) Load(string) ([]state.Record, []error) { return s.records, nil }

func TestWhatRanAtTheStartIsTakenAsAdmitted(t *testing.T) {
	t.Parallel()
	web, changed := adoptee("u1", "h1"), adoptee("u1", "h2")
	for _, tc := range []struct {
		name   string
		ran    *v1.Pod // nil: nothing
		dead   bool
		stored bool
		// kubelets: its sandbox was made by a kubelet.
		kubelets bool
		ask      []*v1.Pod
		asked    []string
		want     []pod.Answer
	}{
		{"a pod that did not run is judged", nil, false, false, false, []*v1.Pod{web}, []string{"ADD u1"}, []pod.Answer{pod.Deny}},
		{"a pod that ran just so is admitted", web, false, false, false, []*v1.Pod{web}, nil, []pod.Answer{pod.Allow}},
		{"but only once: what comes back later is judged", web, false, false, false, []*v1.Pod{web, web}, []string{"ADD u1"}, []pod.Answer{pod.Allow, pod.Deny}},
		{"a pod that is dead is judged", web, true, false, false, []*v1.Pod{web}, []string{"ADD u1"}, []pod.Answer{pod.Deny}},
		{"a pod whose verdict is remembered is judged when it comes back", web, false, true, false, []*v1.Pod{web}, []string{"ADD u1"}, []pod.Answer{pod.Deny}},
		{"what a kubelet made is taken as it runs", web, false, false, true, []*v1.Pod{changed}, nil, []pod.Answer{pod.Allow}},
		{"a pod that ran in another version is judged as changed, and not rejected", web, false, false, false, []*v1.Pod{changed}, []string{"UPDATE u1"}, []pod.Answer{pod.Hold}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			gate := &denying{}
			var list []status.ObservedPod
			if tc.ran != nil {
				list = append(list, observed(t, tc.ran, !tc.dead))
				if tc.kubelets {
					list[0].Sandboxes[0].Annotations = nil
				}
			}
			var at time.Time
			a := newAdoption(gate, func() ([]status.ObservedPod, time.Time) { return list, at }, slog.New(slog.DiscardHandler))
			if tc.stored {
				documents := remembering{stored{records: []state.Record{{Pod: tc.ran, Decided: &state.Decided{}}}}, a}
				if _, errs := documents.Load("static"); errs != nil {
					t.Fatal(errs)
				}
			}
			var got []pod.Answer
			for _, p := range tc.ask {
				a.Judge(pod.Question{Op: pod.Add, Pod: p}, func(v pod.Verdict) { got = append(got, v.Answer) })
			}
			if a.look() || got != nil || gate.asked != nil {
				t.Fatalf("before the runtime was listed: answers %v, asked %q; want neither", got, gate.asked)
			}
			at = time.Now()
			if !a.look() {
				t.Fatal("the list was not seen")
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
			if !slices.Equal(gate.asked, tc.asked) {
				t.Errorf("the policies were asked %q, want %q", gate.asked, tc.asked)
			}
		})
	}
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

package describe

import (
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
	ours "github.com/wardlet/wardlet/core/describe"
)

const generated = 2000

// describeBoth describes a pod with both. kubectl's output has the agent's events as kubectl reads
// them from an API server.
func describeBoth(t *testing.T, p *v1.Pod, events []api.Event, now time.Time) (kubectl, wardlet string) {
	t.Helper()
	list := &v1.EventList{}
	for _, e := range events {
		list.Items = append(list.Items, v1.Event{
			InvolvedObject: v1.ObjectReference{FieldPath: e.FieldPath}, Reason: e.Reason, Message: e.Message, Type: e.Type, Count: int32(e.Count),
			FirstTimestamp: metav1.NewTime(e.First), LastTimestamp: metav1.NewTime(e.Last), Source: v1.EventSource{Component: "wardlet"},
		})
	}
	kubectl, err := describePod(p.DeepCopy(), list)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := ours.Pod(&b, p, &ours.Context{Events: events, Now: now}); err != nil {
		t.Fatal(err)
	}
	return kubectl, b.String()
}

func TestPod_generatedPodsReadAsWithKubectl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		for seed := range uint64(generated) {
			r := rand.New(rand.NewPCG(seed, 1))
			p := anyPod(r, now)
			events := make([]api.Event, r.IntN(4))
			for i := range events {
				events[i] = api.Event{
					Type: v1.EventTypeWarning, Reason: "Unhealthy", Message: words[r.IntN(len(words))], Count: r.IntN(3),
					First: now.Add(-time.Duration(r.IntN(9000)) * time.Second), Last: now.Add(-time.Duration(r.IntN(9000)) * time.Second),
				}
				if r.IntN(2) == 0 {
					events[i].FieldPath = "spec.containers{main0}"
				}
			}
			kubectl, wardlet := describeBoth(t, p, events, now)
			if diff := cmp.Diff(strings.Split(kubectl, "\n"), strings.Split(wardlet, "\n")); diff != "" {
				t.Fatalf("pod %d (-kubectl +wardlet):\n%s", seed, diff)
			}
		}
	})
}

func TestSummarize_generatedStatusesReadAsWithKubectl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		failed := 0
		for seed := range uint64(10 * generated) {
			p := likelyPod(rand.New(rand.NewPCG(seed, 2)), now)
			want := printPod(t, p)
			s := ours.Summarize(p)
			var got [3]string
			got[0], got[1], got[2] = s.Cells(now)
			if p.Status.Phase == v1.PodFailed && want[1] == "Completed" {
				failed++ // the containers succeeded, but the pod's own phase is Failed
				want[1] = got[1]
			}
			if got != want {
				t.Fatalf("pod %d: %q, kubectl prints %q\n%+v", seed, got, want, p)
			}
		}
		if failed == 0 {
			t.Error("no generated pod has failed with containers that ended well")
		}
	})
}

// TestPod_differencesFromKubectl checks each listed difference between the outputs of describe pod:
// the line of kubectl and the line of Wardlet.
func TestPod_differencesFromKubectl(t *testing.T) {
	for name, test := range map[string]struct {
		pod              v1.Pod
		kubectl, wardlet string
	}{
		"a message that looks like other lines": {
			v1.Pod{Status: v1.PodStatus{Message: "no\nName:\tother"}}, "\nName:         other\n", "\nMessage:      no\\nName:\\tother\n",
		},
		"devices without mounts": {
			v1.Pod{Spec: v1.PodSpec{Containers: []v1.Container{{Name: "a", VolumeDevices: []v1.VolumeDevice{{Name: "d", DevicePath: "/dev/d"}}}}}},
			"Devices:      <none>\n      /dev/d from d\n", "Devices:\n      /dev/d from d\n",
		},
	} {
		kubectl, wardlet := describeBoth(t, &test.pod, nil, time.Now())
		if !strings.Contains(kubectl, test.kubectl) || strings.Contains(wardlet, test.kubectl) {
			t.Errorf("%s: %q of\n%s\nis not what differs from\n%s", name, test.kubectl, kubectl, wardlet)
		}
		if !strings.Contains(wardlet, test.wardlet) || strings.Contains(kubectl, test.wardlet) {
			t.Errorf("%s: %q of\n%s\nis not what differs from\n%s", name, test.wardlet, wardlet, kubectl)
		}
	}
}

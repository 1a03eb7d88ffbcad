package server

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/server/client"
)

// held imitates the pods and updates that wait.
type held []api.Waiting

func (h held) List() []api.Waiting { return h }

func TestWhatWaitsIsShownLikePods(t *testing.T) {
	t.Parallel()
	pods := listing("new", "old")().Items
	waits := held{
		{
			Pod: &pods[0], Running: &pods[1], Origin: api.Origin{Source: "static", Document: "/m/web.yaml#0", Version: "2"},
			Verdict: api.Verdict{Answer: api.Hold, Reason: "NotNow", RetryAfter: time.Second},
			RetryAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		},
		{Pod: &pods[1]},
	}
	before := []*v1.Pod{pods[0].DeepCopy(), pods[1].DeepCopy()}
	socket, _ := start(t, known{waiting: waits})
	for path, want := range map[string]string{"/v1/waiting": pod.RedactedValue, "/v1/waiting?env=show": "secret"} {
		var got []api.Waiting
		if err := client.New(socket).Get(t.Context(), path, &got); err != nil {
			t.Fatal(err)
		}
		if len(got) != 2 || got[1].Running != nil {
			t.Fatalf("%s: %+v", path, got)
		}
		for _, p := range []*v1.Pod{got[0].Pod, got[0].Running, got[1].Pod} {
			if p.Kind != "Pod" || p.APIVersion != "v1" || p.Spec.Containers[0].Env[0].Value != want {
				t.Errorf("%s: pod %s: %s/%s, value %q, want %q", path, p.Name, p.APIVersion, p.Kind, p.Spec.Containers[0].Env[0].Value, want)
			}
		}
		got[0].Pod, got[0].Running = waits[0].Pod, waits[0].Running
		if diff := cmp.Diff(waits[0], got[0]); diff != "" {
			t.Errorf("%s: the rest (-want +got):\n%s", path, diff)
		}
	}
	if diff := cmp.Diff(before, []*v1.Pod{&pods[0], &pods[1]}); diff != "" {
		t.Errorf("the agent's own pods changed:\n%s", diff)
	}
}

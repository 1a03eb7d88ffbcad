package agent

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

func TestLastFailures_explainContainersThatAreNotMade(t *testing.T) {
	t.Parallel()
	event := func(uid types.UID, kind, reason, message string) api.Event {
		return api.Event{UID: uid, Type: kind, Reason: reason, Message: message}
	}
	waiting := func(reason, message string) v1.ContainerStatus {
		return v1.ContainerStatus{State: v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: reason, Message: message}}}
	}
	creating := waiting("ContainerCreating", "")
	mount := event("u", v1.EventTypeWarning, "FailedMount", "no such directory")
	for name, test := range map[string]struct {
		events []api.Event
		phase  v1.PodPhase
		has    []v1.ContainerStatus
		want   []string
	}{
		"the last failure counts": {
			[]api.Event{mount, event("u", v1.EventTypeWarning, "FailedCreatePodSandBox", "name too long")},
			v1.PodPending,
			[]v1.ContainerStatus{creating, creating},
			[]string{"FailedCreatePodSandBox: name too long", "FailedCreatePodSandBox: name too long"},
		},
		"so does a network that is not ready": {
			[]api.Event{event("u", v1.EventTypeWarning, "NetworkNotReady", "no CNI")},
			v1.PodPending,
			[]v1.ContainerStatus{creating},
			[]string{"NetworkNotReady: no CNI"},
		},
		"what is no failure does not hide it": {
			[]api.Event{mount, event("u", v1.EventTypeWarning, "PolicyWarning", "x"), event("u", v1.EventTypeNormal, "Pulled", "x")},
			v1.PodPending,
			[]v1.ContainerStatus{creating},
			[]string{"FailedMount: no such directory"},
		},
		"another pod's does not count": {
			[]api.Event{event("other", v1.EventTypeWarning, "FailedMount", "x")}, v1.PodPending, []v1.ContainerStatus{creating}, []string{""},
		},
		"nor one from before a start": {
			[]api.Event{mount, event("u", v1.EventTypeNormal, "Started", "x")}, v1.PodPending, []v1.ContainerStatus{creating}, []string{""},
		},
		"a reason of its own stays": {
			[]api.Event{mount},
			v1.PodPending,
			[]v1.ContainerStatus{waiting("ErrImagePull", "not found"), waiting("ContainerCreating", "mine")},
			[]string{"not found", "mine"},
		},
		"a pod that runs waits for nothing": {[]api.Event{mount}, v1.PodRunning, []v1.ContainerStatus{creating}, []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := v1.PodStatus{Phase: test.phase, ContainerStatuses: test.has}
			before := st.DeepCopy()
			shared := st
			lastFailures(test.events).explain("u", &st)
			var got []string
			for i := range st.ContainerStatuses {
				got = append(got, st.ContainerStatuses[i].State.Waiting.Message)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(*before, shared); diff != "" {
				t.Errorf("the shared status changed:\n%s", diff)
			}
		})
	}
}

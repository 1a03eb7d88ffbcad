package main

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

// unready is a pod whose readiness probe fails.
func unready(p *v1.Pod) {
	p.Spec.Containers[0].ReadinessProbe = &v1.Probe{PeriodSeconds: 10, ProbeHandler: v1.ProbeHandler{Exec: &v1.ExecAction{Command: []string{"true"}}}}
	p.Status.ContainerStatuses[0].Ready = false
	p.Status.ContainerStatuses[0].State.Running.StartedAt = metav1.NewTime(noon.Add(-time.Hour))
}

// unhealthy is an event about the container main of a pod.
func unhealthy(p *v1.Pod, message string) api.Event {
	return api.Event{
		First: noon.Add(-time.Minute), Last: noon.Add(-10 * time.Second), Count: 6, Type: v1.EventTypeWarning, Reason: "Unhealthy", Message: message,
		Namespace: p.Namespace, Name: p.Name, UID: p.UID, FieldPath: "spec.containers{main}",
	}
}

func TestDescribePod(t *testing.T) {
	t.Parallel()
	web, other := aPod("shop", "web-edge", unready), aPod("shop", "cart-edge", isHeldBack)
	stale := unhealthy(&web, "Readiness probe failed: of the pod before it")
	stale.UID = "another"
	k := func() *knowledge {
		return &knowledge{
			pods: [][]v1.Pod{{web, other, aPod("default", "db-edge")}},
			events: []api.Event{
				{First: noon.Add(-time.Hour), Last: noon.Add(-time.Hour), Count: 1, Type: v1.EventTypeNormal, Reason: "Started", Message: "Started container main", Namespace: "shop", Name: "web-edge", UID: web.UID},
				unhealthy(&web, "Readiness probe failed: HTTP probe failed with statuscode: 500"), stale,
			},
			origins: map[types.UID]api.Origin{web.UID: {Source: "static", Document: "/etc/wardlet/manifests/web.yaml#0", FirstSeen: noon.Add(-time.Hour)}},
			waiting: [][]api.Waiting{{wait(other, api.Hold, `policy "labels": no team`, false, 8*time.Second)}},
		}
	}
	for name, args := range map[string][]string{
		"describe-pod":               {"pod", "shop/web"},
		"describe-pod-by-kind":       {"pod/shop/web-edge", "--show-events=false"},
		"describe-pod-namespace":     {"po", "-n", "shop", "web"},
		"describe-pods-two-with-env": {"pods", "-n", "shop", "--show-env", "cart", "web"},
		"describe-pods-all":          {"pods", "-A"},
		"describe-pods-none":         {"pods", "-n", "nowhere"},
		"describe-pod-not-found":     {"pod", "shop/wep"},
		"describe-pod-no-namespace":  {"pod", "web"},
		"describe-nothing":           {},
		"describe-unknown":           {"node"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket, _ := serve(t, k())
			golden(t, name, wardlet(t.Context(), append([]string{"describe", "--socket", socket}, args...)...), socket, "SOCKET")
		})
	}
}

func TestGetPods_namesTheContainerThatIsNotReady(t *testing.T) {
	t.Parallel()
	web := aPod("shop", "web", unready)
	for name, args := range map[string][]string{
		"get-pods-not-ready":   {"pods"},
		"watch-pods-not-ready": {"pods", "-w"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket, _ := serve(t, &knowledge{
				pods:   [][]v1.Pod{{web}},
				events: []api.Event{unhealthy(&web, "Readiness probe failed: HTTP probe failed\nwith statuscode: 500")},
			})
			golden(t, name, wardletUntil(t, "statuscode", 1, append([]string{"get", "--socket", socket}, args...)...))
		})
	}
}

func TestPodStream_doesNotRepeatWhatAProbeFinds(t *testing.T) {
	t.Parallel()
	web := aPod("shop", "web", unready)
	notes := func(message string) []note {
		return podNotes(&web, nil, []api.Event{unhealthy(&web, message)}, noon)
	}
	first, second := notes("Readiness probe failed: after 3 ms"), notes("Readiness probe failed: after 4 ms")
	if first[0].text == second[0].text || !sameNotes(first, second) {
		t.Errorf("notes %+v and %+v, want other words for the same", first, second)
	}
	if sameNotes(first, podNotes(&web, nil, nil, noon)) {
		t.Error("a probe that has failed is the same as one that has not succeeded yet")
	}
}

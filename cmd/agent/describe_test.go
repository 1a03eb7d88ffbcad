package main

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/cmd/agent/internal/clitest"
	"github.com/wardlet/wardlet/core/api"
)

func TestDescribePod(t *testing.T) {
	t.Parallel()
	web, other := clitest.Pod("shop", "web-edge", clitest.Unready), clitest.Pod("shop", "cart-edge", isHeldBack)
	stale := clitest.Unhealthy(&web, "Readiness probe failed: of the pod before it")
	stale.UID = "another"
	k := func() *knowledge {
		return &knowledge{
			pods: [][]v1.Pod{{web, other, clitest.Pod("default", "db-edge")}},
			events: []api.Event{
				{First: noon.Add(-time.Hour), Last: noon.Add(-time.Hour), Count: 1, Type: v1.EventTypeNormal, Reason: "Started", Message: "Started container main", Namespace: "shop", Name: "web-edge", UID: web.UID},
				clitest.Unhealthy(&web, "Readiness probe failed: HTTP probe failed with statuscode: 500"), stale,
			},
			origins: map[types.UID]api.Origin{web.UID: {Source: "static", Document: "/etc/wardlet/manifests/web.yaml#0", FirstSeen: noon.Add(-time.Hour)}},
			waiting: [][]api.Waiting{{clitest.Waiting(other, api.Hold, `policy "labels": no team`, false, 8*time.Second)}},
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
	web := clitest.Pod("shop", "web", clitest.Unready)
	for name, args := range map[string][]string{
		"get-pods-not-ready":   {"pods"},
		"watch-pods-not-ready": {"pods", "-w"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket, _ := serve(t, &knowledge{
				pods:   [][]v1.Pod{{web}},
				events: []api.Event{clitest.Unhealthy(&web, "Readiness probe failed: HTTP probe failed\nwith statuscode: 500")},
			})
			golden(t, name, wardletUntil(t, "statuscode", 1, append([]string{"get", "--socket", socket}, args...)...))
		})
	}
}

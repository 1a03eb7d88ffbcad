package main

import (
	"context"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
)

func someUpdates() *knowledge {
	web := v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "u1"}}
	return &knowledge{
		suppressed: [][]api.WaitingUpdate{{
			{
				Namespace: "shop", Name: "db", UID: "u2", Op: api.UpdateOp, Wait: api.WaitDeferred, Policy: "change-window", Reason: "OutsideWindow",
				Message: "policy \"change-window\": changes\nonly at night", Since: noon.Add(-time.Hour), Again: noon.Add(10 * time.Minute), Until: noon.Add(23 * time.Hour),
				Source: "static", Document: "/m/db.yaml#0", Version: "2",
			},
			{Namespace: "shop", Name: "new", UID: "u3", Op: api.Add, Wait: api.WaitAsked, Reason: api.ReasonNotAnswered, Source: "api", Document: "shop/new"},
		}},
		waiting: [][]api.Waiting{{{
			Pod: &web, Running: &web, Origin: api.Origin{Source: "static", Document: "/m/web.yaml#0", FirstSeen: noon.Add(-time.Minute)},
			Verdict: api.Verdict{Answer: api.Hold, Policy: "images", Reason: "NotSigned", Message: "not signed yet"}, RetryAt: noon.Add(20 * time.Second),
		}}},
	}
}

func TestGetUpdates(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"get-updates":           {"updates"},
		"get-updates-wide":      {"updates", "-o", "wide"},
		"get-updates-yaml":      {"update", "db", "-o", "yaml"},
		"get-updates-json":      {"updates", "-n", "default", "-o", "json"},
		"get-updates-namespace": {"updates", "-n", "shop"},
		"get-updates-named":     {"updates", "web"},
		"get-updates-missing":   {"updates", "nobody"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket, _ := serve(t, someUpdates())
			golden(t, name, wardlet(t.Context(), append([]string{"get", "--socket", socket}, args...)...))
		})
	}
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		socket, _ := serve(t, &knowledge{})
		golden(t, "get-updates-none", wardlet(t.Context(), "get", "--socket", socket, "updates"))
	})
}

func TestGetUpdatesWatchSaysWhatPasses(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"get-updates-watch": {"-w"}, "get-updates-watch-namespace": {"-w", "-n", "shop"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := someUpdates()
			k.waiting = nil
			dropped := k.suppressed[0][0]
			dropped.Wait = api.WaitDropped
			k.suppressed = [][]api.WaitingUpdate{k.suppressed[0], {dropped}, nil}
			ctx, cancel := context.WithCancel(t.Context())
			k.asked = func(n int) {
				if n == 5 {
					cancel()
				}
			}
			socket, _ := serve(t, k)
			golden(t, name, wardlet(ctx, append([]string{"get", "--socket", socket, "updates"}, args...)...))
		})
	}
}

func TestRelease(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"release":           {"shop/db"},
		"release-name":      {"update/shop/db"},
		"release-namespace": {"-n", "shop", "new"},
		"release-both":      {"-n", "shop", "shop/new"},
		"release-none":      {"default/web"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket, _ := serve(t, someUpdates())
			got := wardlet(t.Context(), append([]string{"release", "--socket", socket}, args...)...)
			golden(t, name, strings.ReplaceAll(got, socket, "SOCKET"))
		})
	}
}

package main

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
)

func someEvents() []api.Event {
	return []api.Event{
		{
			Seq: 3, First: noon.Add(-time.Hour), Last: noon.Add(-30 * time.Second), Count: 12, Type: v1.EventTypeWarning, Reason: "BackOff",
			Message:   "Back-off restarting failed container main in pod cart-edge-1_web(uid-cart-edge-1)",
			Namespace: "web", Name: "cart-edge-1", UID: "uid-cart-edge-1", Source: "static",
		},
		{
			Seq: 4, First: noon.Add(-20 * time.Second), Last: noon.Add(-20 * time.Second), Count: 1, Type: v1.EventTypeWarning, Reason: "NoTeam",
			Message:   "held: policy \"required-labels\":\nno team\x1b[2J",
			Namespace: "default", Name: "late-edge-1", UID: "uid-late-edge-1", Source: "fleet",
		},
		{
			Seq: 5, First: noon.Add(-time.Second), Last: noon.Add(-time.Second), Count: 1, Type: v1.EventTypeNormal, Reason: "ConfigApplied",
			Message: `log_level was "info" and is "debug"`, Name: "edge",
		},
		{
			Seq: 6, First: noon, Last: noon, Count: 1, Type: v1.EventTypeNormal, Reason: "Started", Message: "Started container main",
			Namespace: "web", Name: "shop-edge", UID: "uid-shop-edge", Source: "static",
		},
	}
}

func TestGetEvents(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"get-events":             {"events"},
		"get-events-wide":        {"ev", "-o", "wide"},
		"get-events-namespace":   {"events", "-n", "web"},
		"get-events-all":         {"events", "-n", "web", "-A"},
		"get-events-for":         {"events", "--for", "pod/shop"}, // the name in the manifest
		"get-events-for-in":      {"events", "--for", "po/cart-edge-1", "-n", "web"},
		"get-events-for-none":    {"events", "--for", "pod/nobody"},
		"get-events-none":        {"events", "-n", "none"},
		"get-events-no-headers":  {"events", "--no-headers"},
		"get-events-name":        {"events", "-o", "name"},
		"get-events-json":        {"events", "-n", "web", "-o", "json"},
		"get-events-yaml-agent":  {"event", "edge.1886e8308c55b600", "-o", "yaml"},
		"get-events-not-found":   {"event", "web.0"},
		"get-events-json-nobody": {"events", "--for", "pod/nobody", "-o", "json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket, _ := serve(t, &knowledge{events: someEvents()})
			golden(t, name, wardlet(t.Context(), append([]string{"get", "--socket", socket}, args...)...))
		})
	}
}

func TestWatchPrintsEventsAsTheyHappen(t *testing.T) {
	t.Parallel()
	all := someEvents()
	again := all[0]
	again.Seq, again.Last, again.Count = 7, noon, 13
	next := func(known int) []api.Event { // one at a time
		if known < len(all)+1 {
			return append(all, again)[known : known+1]
		}
		return nil
	}
	for name, test := range map[string]struct {
		args  []string
		until string
		times int
	}{
		"watch-events":           {nil, "BackOff", 2},
		"watch-events-namespace": {[]string{"-n", "web"}, "BackOff", 2},
		"watch-events-for":       {[]string{"--for", "pod/cart-edge-1"}, "BackOff", 2},
		"watch-events-json":      {[]string{"-n", "default", "-o", "json"}, "NoTeam", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, known := range []int{0, 2} {
				socket, _ := serve(t, &knowledge{events: all[:known:known], happened: next})
				got := wardletUntil(t, test.until, test.times, append([]string{"get", "events", "-w", "--socket", socket}, test.args...)...)
				golden(t, fmt.Sprintf("%s-%d", name, known), got)
			}
		})
	}
}

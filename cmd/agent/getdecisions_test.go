package main

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

func aDecision(namespace, name string, ago time.Duration, v api.Verdict) api.Decision {
	v.At = noon.Add(-ago)
	return api.Decision{
		First: noon.Add(-ago), Last: noon.Add(-ago), Count: 1, Hook: "admit", Op: api.Add, Namespace: namespace, Name: name,
		UID: types.UID("uid-" + name), Instance: "0123456789abcdef0123456789abcdef",
		Source: "static", Document: "/etc/wardlet/manifests/" + name + ".yaml#0", Verdict: v,
	}
}

var (
	admitted = api.Verdict{Answer: api.Allow, Policy: "allowed-images", Opinions: []api.Opinion{
		{Policy: "allowed-images", Answer: api.Allow, Explanation: "by registry.example/*"},
	}}
	noOpinion = api.Verdict{Answer: api.Allow}
	deniedBy  = api.Verdict{
		Answer: api.Deny, Policy: "allowed-images", Reason: "ImageNotAllowed",
		Message: "policy \"allowed-images\": image evil/x is not\nallowed\x1b[31m",
	}
)

func someDecisions() []api.Decision {
	changed := aDecision("default", "web-edge", 4*time.Second, deniedBy)
	changed.Op, changed.Count, changed.First = api.UpdateOp, 7, noon.Add(-time.Minute)
	tenants := aDecision("tenant-a-1", "shop-edge", 2*time.Hour, api.Verdict{Answer: api.Answer(api.Defer), Policy: "window"})
	tenants.Tenant, tenants.Hook, tenants.NotKept = "a", "filter", "write /x: no space left\non device"
	exec := aDecision("default", "db-edge", 5*time.Minute, api.Verdict{
		Answer: api.Deny, Policy: "no-exec", Reason: "NoExec", Message: "policy \"no-exec\": this node forbids exec in namespace default",
	})
	exec.Hook, exec.Op, exec.Connection = "connect", api.Connect, "exec in container main by alice (node-api): sh"
	return []api.Decision{
		changed,
		exec,
		tenants,
		aDecision("default", "web-edge", time.Hour, admitted),
		aDecision("kube-system", "dns-edge", 26*time.Hour, noOpinion),
		aDecision("default", "db-edge", 3*time.Minute, admitted),
	}
}

func TestGetDecisions(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"get-decisions":            {"decisions"},
		"get-decisions-wide":       {"decisions", "-o", "wide"},
		"get-decisions-namespace":  {"decisions", "-n", "default"},
		"get-decisions-pod":        {"decisions", "web-edge"},
		"get-decisions-pods":       {"decision", "db-edge", "dns-edge", "-n", "default", "-A"},
		"get-decisions-not-found":  {"decisions", "web-edge", "none"},
		"get-decisions-json":       {"decisions", "db-edge", "-o", "json"},
		"get-decisions-yaml":       {"decisions", "web-edge", "-o", "yaml"},
		"get-decisions-no-headers": {"decisions", "--no-headers", "-o", "wide"},
		"get-decisions-name":       {"decisions", "-o", "name"},
		"get-decisions-none":       {"decisions", "-n", "none"},
		"get-decisions-manifest":   {"decisions", "default/web", "kube-system/dns"},
		"get-decisions-policy":     {"decisions", "--policy", "allowed-images"},
		"get-decisions-answer":     {"decisions", "--answer", "deny"},
		"get-decisions-hook":       {"decisions", "--hook", "filter"},
		"get-decisions-connect":    {"decisions", "--hook", "connect"},
		"get-decisions-since":      {"decisions", "--since", "5m"},
		"get-decisions-limit":      {"decisions", "--limit", "2"},
		"get-decisions-tenant":     {"decisions", "--tenant", "a", "-o", "wide"},
		"get-decisions-operator":   {"decisions", "--tenant", "operator"},
		"get-decisions-no-hook":    {"decisions", "--hook", "admission"},
		"get-decisions-no-answer":  {"decisions", "--answer", "yes"},
		"get-decisions-no-pod":     {"decisions", "default/"},
		"get-decisions-two-spaces": {"decisions", "default/web", "-n", "kube-system"},
		"get-decisions-future":     {"decisions", "--since", "-5m"},
		"get-decisions-some":       {"decisions", "web", "nothing", "--answer", "allow"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket, _ := serve(t, &knowledge{decisions: [][]api.Decision{someDecisions()}})
			golden(t, name, wardlet(t.Context(), append([]string{"get", "--socket", socket}, args...)...))
		})
	}
}

func TestWatchOfDecisionsPrintsNewAndRepeatedOnes(t *testing.T) {
	t.Parallel()
	first, second := aDecision("default", "web", time.Minute, admitted), aDecision("default", "web", time.Second, deniedBy)
	again := second
	again.Count, again.Last = 2, noon
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	k := &knowledge{decisions: [][]api.Decision{{first}, {first}, {first, second}, {first, second}, {first, again}, {again}}, asked: func(n int) {
		if n == 8 {
			cancel()
		}
	}}
	socket, _ := serve(t, k)
	golden(t, "watch-decisions", wardlet(ctx, "get", "decisions", "-w", "--socket", socket))
}

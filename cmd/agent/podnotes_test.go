package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/cmd/agent/internal/clitest"
	"github.com/wardlet/wardlet/core/api"
)

func isHeldBack(p *v1.Pod) {
	p.Status = v1.PodStatus{Phase: v1.PodPending, Conditions: []v1.PodCondition{
		{Type: "wardlet.dev/Admitted", Status: v1.ConditionFalse, Reason: "NoTeam", Message: `policy "required-labels": no team`},
	}}
}

func pendingFor(reason, message string) clitest.Edit {
	return func(p *v1.Pod) {
		p.Status = v1.PodStatus{Phase: v1.PodPending, Reason: reason, Message: message}
	}
}

func TestGetPodsSaysWhatWaitsAndWhy(t *testing.T) {
	t.Parallel()
	pods := []v1.Pod{
		clitest.Pod("default", "web", created),
		clitest.Pod("default", "worker", created),
		clitest.Pod("default", "newcomer", isHeldBack),
		clitest.Pod("default", "quiet", isHeldBack),
		clitest.Pod("default", "second", isHeldBack),
		clitest.Pod("default", "evil", clitest.Rejected("ImageNotAllowed", `policy "allowed-images": image evil/x of container main is not allowed`)),
		clitest.Pod("default", "orphan", clitest.Rejected("DefaultVerdict", "no policy has an opinion, and policy.default_verdict is deny")),
		clitest.Pod("default", "fat", clitest.Rejected("OutOfmemory", "Node didn't have enough resource: memory")),
		clitest.Pod("default", "big", pendingFor("OutOfcpu", "Pod was rejected for now: Node didn't have enough resource: cpu")),
		clitest.Pod("default", "critical", pendingFor("MakingRoom", "Pod starts when these have ended: default/small, default/tiny")),
		clitest.Pod("other", "calm", created),
	}
	second := clitest.Waiting(pods[4], api.Hold, "", false, 500*time.Millisecond)
	second.Verdict.Reason = "PolicyHeld"
	worker := clitest.Waiting(pods[1], api.Hold, `policy "required-labels": not now`, true, 90*time.Second)
	worker.Origin.Document = "/etc/wardlet/manifests/all.yaml#3"
	waiting := []api.Waiting{
		clitest.Waiting(pods[0], api.Deny, `policy "allowed-images": image evil/x is not allowed`, true, 0),
		worker,
		clitest.Waiting(pods[2], api.Hold, `policy "required-labels": no team`, false, 8*time.Second),
		clitest.Waiting(pods[3], api.Hold, "policies are not ready:\n/p/a.toml:1: bad\x1b[2J", false, 0),
		second,
		clitest.Waiting(clitest.Pod("default", "unknown"), api.Hold, "of a pod that is not listed", false, 0),
	}
	for name, args := range map[string][]string{
		"get-pods-waiting":           {"pods"},
		"get-pods-waiting-wide":      {"pods", "-o", "wide"},
		"get-pods-waiting-namespace": {"pods", "-n", "other"},
		"get-pods-waiting-named":     {"pods", "newcomer"},
		"get-pods-waiting-json":      {"pods", "newcomer", "-o", "json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket, _ := serve(t, &knowledge{pods: [][]v1.Pod{pods}, waiting: [][]api.Waiting{waiting}, foreign: 1})
			golden(t, name, wardlet(t.Context(), append([]string{"get", "--socket", socket}, args...)...))
		})
	}
}

func TestGetPodsSaysUntilWhenAndWhyAFilterHoldsBack(t *testing.T) {
	t.Parallel()
	names := []string{"closed", "dropped", "fresh", "new", "soon"}
	var pods []v1.Pod
	var waiting []api.Waiting
	for _, name := range names {
		p := clitest.Pod("default", name, created)
		w := clitest.Waiting(p, api.Hold, `policy "hours": the window is closed`, name != "new", 5*time.Minute)
		w.Suppressed, w.Verdict.Reason, w.Until = true, "Window", noon.Add(23*time.Hour)
		switch name {
		case "dropped": // until the pod changes or the time has passed
			w.Verdict.Message, w.Verdict.Reason, w.RetryAt = `policy "hours": `, "PolicySuppressed", w.Until
		case "fresh": // not answered yet
			w.Verdict = api.Verdict{Answer: api.Hold, Reason: api.ReasonNotAnswered}
			w.Until, w.RetryAt = time.Time{}, time.Time{}
		case "soon":
			w.RetryAt = noon
		}
		pods, waiting = append(pods, p), append(waiting, w)
	}
	socket, _ := serve(t, &knowledge{pods: [][]v1.Pod{pods}, waiting: [][]api.Waiting{waiting}})
	golden(t, "get-pods-suppressed", wardlet(t.Context(), "get", "pods", "--socket", socket))
}

func TestWideOutputCountsForeignPods(t *testing.T) {
	t.Parallel()
	for name, k := range map[string]*knowledge{
		"get-pods-foreign":         {foreign: 3, pods: [][]v1.Pod{{clitest.Pod("web", "shop")}}},
		"get-pods-foreign-only":    {foreign: 2},
		"get-pods-foreign-unknown": {foreignErr: errors.New("container runtime is away"), pods: [][]v1.Pod{{clitest.Pod("web", "shop")}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket, _ := serve(t, k)
			golden(t, name, wardlet(t.Context(), "get", "pods", "-o", "wide", "--socket", socket), socket, "SOCKET")
		})
	}
}

func TestWatchPrintsAPodAgainWhenWhatWaitsChanges(t *testing.T) {
	t.Parallel()
	web := clitest.Pod("web", "shop", created)
	denied := clitest.Waiting(web, api.Deny, `policy "a": no`, true, 0)
	held := clitest.Waiting(web, api.Hold, `policy "b": later`, true, 20*time.Second)
	sooner := clitest.Waiting(web, api.Hold, `policy "b": later`, true, 10*time.Second)
	edited := clitest.Waiting(web, api.Hold, `policy "b": later`, true, 10*time.Second)
	edited.Origin.Version = "v2"
	k := &knowledge{
		pods:    [][]v1.Pod{{web}},
		waiting: [][]api.Waiting{{}, {denied}, {denied}, {held}, {sooner}, {edited}, {}, {}},
	}
	socket, _ := serve(t, k)
	golden(t, "watch-pods-waiting", wardletUntil(t, "  shop ", 5, "get", "pods", "-w", "--socket", socket))
}

func TestWatchSaysWhatTakesLongWhenItDoes(t *testing.T) {
	t.Parallel()
	web := clitest.Pod("web", "shop", created)
	unjudged := clitest.Waiting(web, "", "", true, 0)
	unjudged.Asked = &api.Asked{Hook: api.HookAdmit, Since: noon}
	socket, _ := serve(t, &knowledge{pods: [][]v1.Pod{{web}}, waiting: [][]api.Waiting{{unjudged}}})
	var late atomic.Bool
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	out := &telling{tell: func(out string) {
		late.Store(true) // from the first row on
		if strings.Contains(out, "asked") {
			cancel()
		}
	}}
	a := &app{&cli.App{Out: out, ErrOut: io.Discard, Poll: time.Millisecond, Now: func() time.Time {
		if late.Load() {
			return noon.Add(time.Minute)
		}
		return noon
	}}}
	code := a.execute(ctx, []string{"get", "pods", "-w", "--socket", socket})
	golden(t, "watch-pods-unjudged", out.String()+fmt.Sprintf("--- exit status %d\n", code))
}

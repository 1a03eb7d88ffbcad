package agent

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/config/reload"
	"github.com/wardlet/wardlet/core/server/client"
	"github.com/wardlet/wardlet/test/fakecri"
	"github.com/wardlet/wardlet/test/site"
)

// oneSource is the source that every configuration needs.
const oneSource = "[[source]]\nname = \"static\"\nkind = \"file\"\npath = \"/manifests\"\n"

// The agent is complete, but only the parts that need no runtime run.
func TestAnAgentTakesNewValuesWithoutARestart(t *testing.T) {
	t.Parallel()
	cri := fakecri.Start(t)
	n := site.New(t)
	text := func(runtime, lines string) string {
		return "node_name = \"edge\"\n[[source]]\nname = \"static\"\nkind = \"file\"\npath = \"static\"\n" +
			"[[tenant]]\nname = \"a\"\nnamespaces = [\"a\"]\npolicy_dir = \"none\"\n" +
			"[paths]\nstate_root = \"state\"\npod_root = \"pods\"\nlog_root = \"logs\"\nsocket = \"run/w.sock\"\n" +
			"[runtime]\nendpoint = \"" + cri.Endpoint() + "\"\n" + runtime + lines
	}
	n.Write(t, "agent.toml", text("", ""))
	cfg, err := config.Load(n.Path("agent.toml"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := Open(cfg, Options{Logger: slog.New(slog.DiscardHandler), Reload: &reload.Reload{Path: n.Path("agent.toml"), Level: &slog.LevelVar{}}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	stages, err := a.stages()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var ran sync.WaitGroup
	for _, s := range stages {
		if s.Name == "configuration" || s.Name == "local API" || s.Name == "policies" {
			ran.Go(func() { _ = s.Run(ctx) })
		}
	}
	defer ran.Wait()
	defer cancel()
	left := make(chan time.Duration, 1)
	cri.Before("Version", func(ctx context.Context, _ any) error {
		at, _ := ctx.Deadline()
		left <- time.Until(at)
		return nil
	})
	// verdict returns the verdict on a pod that no policy set concerns.
	verdict := func() api.Verdict {
		answer := make(chan api.Verdict, 1)
		p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "1"}}
		a.policies.Judge(api.Question{Op: api.Add, Pod: p, Origin: api.Origin{Source: "static"}}, func(v api.Verdict) { answer <- v })
		return <-answer
	}
	for _, step := range []struct {
		runtime, lines string
		fault          bool
		timeout        time.Duration
		verdict        api.Answer
	}{
		{"", "", false, 2 * time.Minute, api.Allow},
		{"request_timeout = \"1h\"\n", "[policy]\ndefault_verdict = \"deny\"\n", false, time.Hour, api.Deny},
		{"request_timeout = \"9s\"\n", "[policy]\ndefault_verdict = \"never\"\n", true, time.Hour, api.Deny},
		{"", "[policy]\ndefault_verdict = \"hold\"\n", false, 2 * time.Minute, api.Hold},
	} {
		n.Write(t, "agent.toml", text(step.runtime, step.lines))
		var outcome reload.Outcome
		err := client.New(cfg.Paths.Socket).Post(t.Context(), "/v1/reload", &outcome)
		if (err != nil) != step.fault || len(outcome.Restart) > 0 {
			t.Errorf("%s: outcome %+v, %v", step.lines, outcome, err)
		}
		if got := verdict(); got.Answer != step.verdict {
			t.Errorf("%s: verdict %+v, want %s", step.lines, got, step.verdict)
		}
		if _, err := a.client.Version(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := <-left; got > step.timeout || got < step.timeout-5*time.Second {
			t.Errorf("%s: a call may take %s, want %s", step.lines, got, step.timeout)
		}
	}
}

func TestAnAgentFollowsItsConfiguration(t *testing.T) {
	t.Parallel()
	n := site.New(t)
	n.Source(t, "static", nil)
	n.Write(t, "agent.toml", oneSource)
	level := &slog.LevelVar{}
	a, err := Open(n.Cfg, Options{Logger: slog.New(slog.DiscardHandler), Reload: &reload.Reload{Path: n.Path("agent.toml"), Level: level}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	stages, err := a.stages()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var ran sync.WaitGroup
	for _, s := range stages {
		// The stage "local API" closes its socket. The other stages would need a runtime.
		if s.Name == "configuration" || s.Name == "local API" {
			ran.Go(func() { _ = s.Run(ctx) })
		}
	}
	n.Write(t, "agent.toml", "log_level = \"debug\"\n"+oneSource)
	var outcome reload.Outcome
	err = client.New(n.Cfg.Paths.Socket).Post(t.Context(), "/v1/reload", &outcome)
	want := reload.Outcome{Applied: []config.Change{{Key: "log_level", From: "info", To: "debug"}}}
	if outcome.Applied == nil { // on a slow machine the agent has noticed the change before it was asked
		want.Applied = nil
	}
	if diff := cmp.Diff(want.Applied, outcome.Applied); diff != "" || err != nil || level.Level() != slog.LevelDebug || len(outcome.Restart) == 0 {
		t.Errorf("outcome %+v, %v; level %s", outcome, err, level.Level())
	}
	cancel()
	ran.Wait()
	found := false
	for _, e := range a.events.List() {
		found = found || e.Reason == "ConfigApplied" && e.Name == "edge"
	}
	if !found {
		t.Errorf("events %+v", a.events.List())
	}
}

func TestReloadConfig_withoutAFile(t *testing.T) {
	t.Parallel()
	if _, err := (&Node{}).ReloadConfig(t.Context()); !errors.Is(err, errNotFollowed) {
		t.Errorf("error %v, want %v", err, errNotFollowed)
	}
}

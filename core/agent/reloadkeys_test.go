package agent

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/policy"
	"github.com/wardlet/wardlet/core/server/client"
	"github.com/wardlet/wardlet/test/fakecri"
)

func TestTheTermsOfThePlaneAreTheSameAtTheStartAndLater(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.Policy.DefaultVerdict, cfg.Policy.DenyPacing, cfg.Policy.Exempt, cfg.Policy.MaxSuppress = config.VerdictHold, false, []string{"a/b"}, time.Hour
	cfg.Tenants = []config.Tenant{{Name: "a", MaxSuppress: time.Second, FuelPerSecond: 7}, {Name: "b"}}
	start, err := policyConfig(cfg, "edge", nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	want := policy.Terms{
		MaxSuppress: time.Hour, Exempt: []string{"a/b"}, DefaultVerdict: api.Hold, DenyAtOnce: true,
		Tenants: map[string]policy.TenantTerms{"a": {MaxSuppress: time.Second, FuelPerSecond: 7}, "b": {}},
	}
	for when, got := range map[string]policy.Terms{"at the start": start.Terms(), "later": policyTerms(cfg)} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
}

const tenantText = "[[tenant]]\nname = \"a\"\nnamespaces = [\"a\"]\npolicy_dir = \"policies\"\n"

func TestKeysThatChangeReachTheirParts(t *testing.T) {
	t.Parallel()
	const (
		before = "terms {MaxSuppress:24h0m0s Exempt:[] DefaultVerdict:allow DenyAtOnce:false Tenants:map[a:{MaxSuppress:5m0s FuelPerSecond:500000000}]}"
		many   = "[runtime]\nrequest_timeout = \"9s\"\nresolv_conf = \"/one\"\n[sync]\nfrequency = \"8s\"\non_denied_replacement = \"stop\"\n" +
			"[policy]\ndefault_verdict = \"deny\"\ndeny_pacing = false\n"
	)
	tenant := func(lines string) string { return firstSource + tenantText + lines }
	type step struct {
		text string
		took []string
	}
	for name, steps := range map[string][]step{
		"each by itself": {
			{tenant("[runtime]\nrequest_timeout = \"9s\"\n"), []string{"timeout 9s"}},
			{tenant("[sync]\nfrequency = \"8s\"\n"), []string{"timeout 2m0s", "frequency 8s"}},
			{tenant("[sync]\non_denied_replacement = \"stop\"\n"), []string{"frequency 1m0s", "stop true"}},
			{tenant(""), []string{"stop false"}},
			{tenant("max_suppress = \"1s\"\n"), []string{"terms {MaxSuppress:24h0m0s Exempt:[] DefaultVerdict:allow DenyAtOnce:false Tenants:map[a:{MaxSuppress:1s FuelPerSecond:500000000}]}"}},
			{tenant(""), []string{before}},
			{tenant("fuel_per_second = 2_000_000\n"), []string{"terms {MaxSuppress:24h0m0s Exempt:[] DefaultVerdict:allow DenyAtOnce:false Tenants:map[a:{MaxSuppress:5m0s FuelPerSecond:2000000}]}"}},
			{tenant(""), []string{before}},
			{tenant("[policy]\nexempt = [\"a/b\"]\n"), []string{"terms {MaxSuppress:24h0m0s Exempt:[a/b] DefaultVerdict:allow DenyAtOnce:false Tenants:map[a:{MaxSuppress:5m0s FuelPerSecond:500000000}]}"}},
			{tenant("[policy]\nmax_suppress = \"3s\"\n"), []string{
				"terms {MaxSuppress:3s Exempt:[] DefaultVerdict:allow DenyAtOnce:false Tenants:map[a:{MaxSuppress:5m0s FuelPerSecond:500000000}]}",
				"terms {MaxSuppress:3s Exempt:[] DefaultVerdict:allow DenyAtOnce:false Tenants:map[a:{MaxSuppress:5m0s FuelPerSecond:500000000}]}",
			}},
		},
		"several at once, beside one that needs a restart": {
			{tenant(many), []string{
				"timeout 9s", "frequency 8s", "stop true",
				"terms {MaxSuppress:24h0m0s Exempt:[] DefaultVerdict:deny DenyAtOnce:true Tenants:map[a:{MaxSuppress:5m0s FuelPerSecond:500000000}]}",
				"terms {MaxSuppress:24h0m0s Exempt:[] DefaultVerdict:deny DenyAtOnce:true Tenants:map[a:{MaxSuppress:5m0s FuelPerSecond:500000000}]}",
			}},
		},
		"none of a file with a fault": {
			{tenant(many + "exempt = [\"nothing\"]\n"), nil},
			{tenant("fuel_per_second = 7\n" + many), nil},
			{tenant(many + "[sink]\n"), nil},
			{tenant(""), nil},
		},
		"not of a tenant that came with the file": {
			{tenant("[[tenant]]\nname = \"b\"\nnamespaces = [\"b\"]\nfuel_per_second = 3_000_000\n"), nil},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFollowed(t)
				f.replace(tenant(""))
				cfg, err := config.Load(f.path)
				f.must(err)
				f.r.inForce = cfg
				f.run()
				f.settled()
				for _, s := range steps {
					f.took = nil
					f.replace(s.text)
					f.tell()
					f.settled()
					if diff := cmp.Diff(s.took, f.took); diff != "" {
						t.Errorf("after\n%s(-want +got):\n%s", s.text, diff)
					}
				}
			})
		})
	}
}

// The parts of a whole agent, of which only those run that need no runtime.
func TestAnAgentTakesNewValuesWithoutARestart(t *testing.T) {
	t.Parallel()
	cri := fakecri.Start(t)
	n := newSite(t)
	text := func(runtime, lines string) string {
		return "node_name = \"edge\"\n[[source]]\nname = \"static\"\nkind = \"file\"\npath = \"static\"\n" +
			"[[tenant]]\nname = \"a\"\nnamespaces = [\"a\"]\npolicy_dir = \"none\"\n" +
			"[paths]\nstate_root = \"state\"\npod_root = \"pods\"\nlog_root = \"logs\"\nsocket = \"run/w.sock\"\n" +
			"[runtime]\nendpoint = \"" + cri.Endpoint() + "\"\n" + runtime + lines
	}
	n.write(t, "agent.toml", text("", ""))
	cfg, err := config.Load(n.path("agent.toml"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(cfg, Options{Logger: slog.New(slog.DiscardHandler), Reload: &Reload{Path: n.path("agent.toml"), Level: &slog.LevelVar{}}})
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
		if s.name == "configuration" || s.name == "local API" || s.name == "policies" {
			ran.Go(func() { _ = s.run(ctx) })
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
	// verdict is that on a pod of the operator, whom no set concerns.
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
		n.write(t, "agent.toml", text(step.runtime, step.lines))
		var outcome Outcome
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

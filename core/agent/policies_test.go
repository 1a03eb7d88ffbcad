package agent

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/config/reload"
	"github.com/wardlet/wardlet/core/node"
	"github.com/wardlet/wardlet/core/policy"
)

func TestPolicyConfig_hasWhatTheConfigurationSays(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.Sources = []config.Source{{Name: "static", Kind: config.KindFile}, {Name: "fleet", Kind: config.KindHTTP}, {Name: "api", Kind: config.KindAPI}}
	cfg.Policy = config.Policy{Dir: "/policies", AllowUnpinned: true, DefaultVerdict: config.VerdictHold, Exempt: []string{"a/b"}, ModuleBytes: 70_000, CodeBytes: 66_000}
	cfg.Tenants = []config.Tenant{{Name: "a", Namespaces: []string{"a-*"}, PolicyDir: "/a", PolicyMemory: 7 << 20}, {Name: "b", Namespaces: []string{"b"}}}
	got, err := policyConfig(cfg, "edge", nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if got.Dir != "/policies" || !got.AllowUnpinned || got.DefaultVerdict != api.Hold || len(got.Exempt) != 1 || got.ModuleBytes != 70_000 || got.Node != "edge" {
		t.Errorf("configuration %+v", got)
	}
	if len(got.Tenants) != 2 || got.Tenants[0].PolicyMemory != 7<<20 || got.Tenants[0].Dir != "/a" || !got.Tenants[0].Owns("a-web") || got.Tenants[1].Owns("a-web") || !got.Tenants[1].Owns("b") {
		t.Errorf("tenants %+v", got.Tenants)
	}
	if diff := cmp.Diff(map[string]string{"static": "file", "fleet": "http", "api": "api"}, got.Kinds); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	if got.ClockSynchronized == nil || got.ClockSynchronized() != node.ClockSynchronized() {
		t.Error("the policy engine does not use the node's clock")
	}
}

func TestPolicyConfig_hasTheTermsOfReload(t *testing.T) {
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
	var later policy.Terms
	live := &reload.Live{Terms: func(terms policy.Terms) { later = terms }}
	live.Appliers()["policy.exempt"](cfg)
	for when, got := range map[string]policy.Terms{"at the start": start.Terms(), "later": later} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
}

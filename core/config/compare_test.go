package config

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestComparedConfigurations(t *testing.T) {
	t.Parallel()
	start := func() *Config {
		c := Default()
		c.Sources = []Source{
			{Name: "static", Kind: KindFile, Path: "/m", Period: 20 * time.Second},
			{Name: "fleet", Kind: KindHTTP, URL: "https://h/a?key=1", Period: 20 * time.Second},
			{Name: "2", Kind: KindFile, Path: "/two", Tenant: "a"},
		}
		c.Tenants = []Tenant{{Name: "a", Namespaces: []string{"a-*", "b"}}, {Name: "c", Namespaces: []string{"c"}}}
		c.Runtime.Handlers = []RuntimeHandler{{Class: "gvisor", Handler: "gvisor"}}
		return c
	}
	long := strings.Repeat("ä", 300)
	for name, test := range map[string]struct {
		change func(*Config)
		want   []Change
	}{
		"differ in nothing": {func(*Config) {}, nil},
		"differ in a key that can change": {
			func(c *Config) { c.LogLevel = "debug" },
			[]Change{{Key: "log_level", From: "info", To: "debug"}},
		},
		"differ in keys that cannot, in the order of the file": {
			func(c *Config) { c.Policy.AllowUnpinned, c.Runtime.AdoptForeign, c.NodeName = true, true, "edge" },
			[]Change{
				{"node_name", true, whyIdentity, "", "edge"},
				{"runtime.adopt_foreign", true, whyRuntime, "false", "true"},
				{"policy.allow_unpinned", true, whyPolicies, "false", "true"},
			},
		},
		"differ in keys of tenants that can change, which bear their names": {
			func(c *Config) { c.Tenants[1].FuelPerSecond, c.Tenants[0].MaxSuppress = 7, time.Second },
			[]Change{
				{Key: "tenant[a].max_suppress", From: "0s", To: "1s"},
				{Key: "tenant[c].fuel_per_second", From: "0", To: "7"},
			},
		},
		"differ in a number": {
			func(c *Config) { c.Policy.CodeBytes = 65_536 },
			[]Change{{"policy.code_bytes", true, whyPolicies, "3145728", "65536"}},
		},
		"differ in a source, which bears its name": {
			func(c *Config) { c.Sources[2].Path, c.Sources[0].Period = "/zwei", time.Minute },
			[]Change{
				{"source[static].period", true, whySources, "20s", "1m0s"},
				{"source[2].path", true, whySources, "/two", "/zwei"},
			},
		},
		"have a source more, and one less": {
			func(c *Config) { c.Sources = append(c.Sources[1:], Source{Name: "new", Kind: KindFile, Path: "/new"}) },
			[]Change{
				{"source[static]", true, whySources, present, absent},
				{"source[new]", true, whySources, absent, present},
			},
		},
		"have sources in another order": {
			func(c *Config) { slices.Reverse(c.Sources) },
			[]Change{{"source", true, whySources, "static, fleet, 2", "2, fleet, static"}},
		},
		"have a source more in between": {
			func(c *Config) { c.Sources = slices.Insert(c.Sources, 1, Source{Name: "new"}) },
			[]Change{{"source[new]", true, whySources, absent, present}},
		},
		"have tenants in another order, which means nothing": {func(c *Config) { slices.Reverse(c.Tenants) }, nil},
		"differ in a list": {
			func(c *Config) { c.Tenants[0].Namespaces = []string{"a-*"} },
			[]Change{{"tenant[a].namespaces", true, whyTenants, "a-*, b", "a-*"}},
		},
		"differ in a handler of the runtime, which bears its class": {
			func(c *Config) { c.Runtime.Handlers[0].Handler = "runsc" },
			[]Change{{"runtime.handler[gvisor].handler", true, whyPods, "gvisor", "runsc"}},
		},
		"have another handler, which may come first": {
			func(c *Config) {
				c.Runtime.Handlers = slices.Insert(c.Runtime.Handlers, 0, RuntimeHandler{Class: "kata", Handler: "kata"})
			},
			[]Change{{"runtime.handler[kata]", true, whyPods, absent, present}},
		},
		"have no list, and an empty one": {func(c *Config) { c.Conflicts.Precedence = []string{} }, nil},
		"differ in a URL, whose query may be a secret": {
			func(c *Config) { c.Sources[1].URL = "https://h/a?key=2" },
			[]Change{{"source[fleet].url", true, whySources, "https://h/a?...", "https://h/a?..."}},
		},
		"differ in a path, which has no query": {
			func(c *Config) { c.Sources[0].Path = "/m?x" },
			[]Change{{"source[static].path", true, whySources, "/m", "/m?x"}},
		},
		"differ in a long value": {
			func(c *Config) { c.Policy.Dir = long },
			[]Change{{"policy.dir", true, whyPolicies, "", strings.Repeat("ä", 197) + "..."}},
		},
		"differ in a value as long as is told": {
			func(c *Config) { c.Policy.Dir = long[:400] },
			[]Change{{"policy.dir", true, whyPolicies, "", strings.Repeat("ä", 200)}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			next := start()
			test.change(next)
			if diff := cmp.Diff(test.want, Compare(start(), next)); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

// A change must have the same text in every comparison, because the agent recognizes by the text
// which changes it has reported.
func TestChangesOfAFileThatWasReadTwiceAreTheSame(t *testing.T) {
	t.Parallel()
	path := write(t, source+"[[tenant]]\nname = \"a\"\nnamespaces = [\"a\"]\n[sync]\nfrequency = \"2s\"\n")
	first, err := load(path, noEnv)
	if err != nil {
		t.Fatal(err)
	}
	again, err := load(path, noEnv)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Change(nil), Compare(first, again)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Compare(Default(), first), Compare(Default(), again)); diff != "" {
		t.Errorf("changes (-first +again):\n%s", diff)
	}
}

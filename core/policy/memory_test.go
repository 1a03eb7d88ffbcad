package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/state"
)

func TestATenantsPluginsHaveOnlySoMuchMemoryTogether(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		memory int64
		pages  []string
		want   string
	}{
		"as much as they may":         {192 * bundle.PageBytes, []string{"64", "128"}, ""},
		"a page too many":             {192 * bundle.PageBytes, []string{"65", "128"}, "p1.toml:8: limits.memory_pages: with these 128 pages the policies of tenant \"a\" may take 12648448 bytes of memory, more than the 12582912 of its policy_memory"},
		"a limit that is the default": {bundle.PageBytes, []string{""}, "p0.toml: limits.memory_pages: with these 64 pages"},
		"one that is off":             {64 * bundle.PageBytes, []string{"64", "1000\n\nmode = \"off\""}, ""},
		"any amount":                  {0, []string{"1000", "1000"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				for i, pages := range test.pages {
					pages, mode, _ := strings.Cut(pages, "\n\n")
					if pages != "" {
						pages = "[limits]\nmemory_pages = " + pages
					}
					d.Of("a").Policy([]string{"p0", "p1"}[i], "deny", mode, pages)
				}
				d.Policy("node", "allow", "[limits]\nmemory_pages = 1024")
				p, _ := listed(t, d, s, tenanted(d, "a"), func(c *Config) { c.Tenants[0].PolicyMemory = test.memory })
				run(t, p)
				time.Sleep(time.Minute)
				got := strings.ReplaceAll(setOf(t, p, "a").Refused, d.Of("a").Dir+"/", "")
				if (got == "") != (test.want == "") || !strings.HasPrefix(got, test.want) {
					t.Errorf("refused for %q, want %q", got, test.want)
				}
				if v := ask(t, p, policytest.Question("web", in("other"))); v.Answer != api.Allow {
					t.Errorf("the operator's own pod: %+v", v)
				}
			})
		})
	}
}

func TestWhatTookTooMuchMemoryIsTriedAgainWithMore(t *testing.T) {
	t.Parallel()
	keptBubble(t, func(d policytest.Tree, s *policytest.Scripts, keep func(*Config), _ state.PolicySets) {
		t := d.T
		d.Of("a").Policy("p", "deny")
		d.Policy("node", "allow")
		for _, memory := range []int64{bundle.PageBytes, 64 * bundle.PageBytes} {
			life(t, d, s, func(p *Engine, _ *policytest.Logs) {
				time.Sleep(time.Minute)
				if set := setOf(t, p, "a"); set.Ready != (memory > bundle.PageBytes) {
					t.Errorf("with %d bytes: %+v", memory, set)
				}
			}, keep, tenanted(d, "a"), func(c *Config) { c.Tenants[0].PolicyMemory = memory })
		}
	})
}

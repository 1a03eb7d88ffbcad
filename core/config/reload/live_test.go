package reload

import (
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/config"
)

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

package main

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/policy/author"
	"github.com/wardlet/wardlet/test/wasmtest"
)

// measured matches the values that differ from machine to machine.
var measured = regexp.MustCompile(`[0-9.]+(ns|µs|ms|s)\b|unknown|[0-9]+ KiB`)

func TestPolicyBench(t *testing.T) {
	t.Parallel()
	denying := wasmtest.Answering(1, "NotNice", "because it is so")
	dir := draft(t, denying, admitKeys+"[limits]\nfuel = 1000\n"+denyTest+denyTest)
	file := filepath.Join(dir, "p.toml")
	got := wardlet(t.Context(), "policy", "bench", file, "-n", "20", "--rounds", "2")
	for _, want := range []string{"p: module of ", "memory: 1 of 64 pages (1.6 %)", "\nweb ", "\nweb-2 ", "deny", " 477 ", "47.7 %", " 23 B ", "PER SECOND is with fuel_per_second = 500000000", "exit status 0"} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in\n%s", want, got)
		}
	}
	if times := measured.FindAllString(got, -1); len(times) < 10 {
		t.Errorf("%d figures in\n%s", len(times), got)
	}
	var report struct {
		Policies []*author.Bench `json:"policies"`
	}
	text, _, _ := strings.Cut(wardlet(t.Context(), "policy", "bench", dir, "--pod", filepath.Join(dir, "web.yaml"), "-n", "20", "--rounds", "1", "-o", "json"), "---")
	if err := json.Unmarshal([]byte(text), &report); err != nil || len(report.Policies) != 1 || len(report.Policies[0].Calls) != 1 {
		t.Fatalf("%v:\n%s", err, text)
	}
	if c := report.Policies[0].Calls[0]; c.Fuel != 477 || c.OutputBytes != 23 || c.Median <= 0 || c.P99 < c.Median || c.Cost() < c.Fuel {
		t.Errorf("figures %+v", c)
	}
	untested := draft(t, denying, admitKeys)
	golden(t, "policy-bench-no-tests", wardlet(t.Context(), "policy", "bench", untested), untested, "DIR")
}

func TestPolicyBenchOfWhatCannotBeMeasured(t *testing.T) {
	t.Parallel()
	trapping := draft(t, wasmtest.Trapping(), admitKeys+denyTest)
	golden(t, "policy-bench-trap", wardlet(t.Context(), "policy", "bench", trapping), trapping, "DIR")
	golden(t, "policy-bench-trap-json", wardlet(t.Context(), "policy", "bench", trapping, "-o", "json"), trapping, "DIR")
	other := draft(t, wasmtest.Answering(1, "NotNice", "it is so"), admitKeys+"[match]\nnamespaces = [\"other\"]\n"+denyTest)
	if got := wardlet(t.Context(), "policy", "bench", other, "-n", "1", "--rounds", "1"); !strings.Contains(got, "abstain (not asked)") {
		t.Errorf("a pod that does not match:\n%s", got)
	}
	for name, args := range map[string][]string{
		"usage-policy-bench-none":  {},
		"usage-policy-bench-count": {".", "-n", "0"},
		"help-policy-bench":        {"--help"},
	} {
		golden(t, name, wardlet(t.Context(), append([]string{"policy", "bench"}, args...)...))
	}
}

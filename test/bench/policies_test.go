package main

import (
	"bytes"
	"strings"
	"testing"
)

func drivenBy(t *testing.T, script string) ([]figure, error) {
	t.Helper()
	r := &run{root: t.TempDir(), rounds: 1, progress: &bytes.Buffer{}}
	return r.drivePolicies(t.Context(), writeScript(t, script))
}

func TestFiguresOfPoliciesAreJudgedHere(t *testing.T) {
	t.Parallel()
	figures, err := drivenBy(t, `echo '[{"name":"kept","value":2,"unit":"ns","limit":2},
		{"name":"missed","value":2.1,"unit":"ns","limit":2,"ok":true},
		{"name":"informs","value":9,"unit":"bytes","peer":"bare","peer_value":8}]'`)
	if err != nil {
		t.Fatal(err)
	}
	if got := missed(figures); len(got) != 1 || got[0] != "missed" {
		t.Errorf("missed %q", got)
	}
	if f := figures[0]; f.Bound != atMost || *f.Limit != 2 {
		t.Errorf("a figure with a limit: %+v", f)
	}
	if f := figures[2]; f.Limit != nil || f.Peer != "bare" || *f.PeerValue != 8 {
		t.Errorf("a figure without a limit: %+v", f)
	}
}

func TestABenchOfPoliciesThatFails(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"it ends with an error":    "echo why >&2; exit 3",
		"it prints something else": "echo hello",
		"it has measured nothing":  "echo '[]'",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			figures, err := drivenBy(t, script)
			if err == nil {
				t.Fatalf("it counts as %+v", figures)
			}
			if strings.Contains(script, "why") && !strings.Contains(err.Error(), "why") {
				t.Errorf("the error does not say why: %v", err)
			}
		})
	}
}

package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"
)

func lifecycleBy(t *testing.T, script string) ([]figure, error) {
	t.Helper()
	r := &run{root: t.TempDir(), rounds: 5, progress: &bytes.Buffer{}}
	return r.driveLifecycle(t.Context(), writeScript(t, script))
}

func TestFiguresOfTheLifecycleAreJudgedHere(t *testing.T) {
	t.Parallel()
	figures, err := lifecycleBy(t, `echo '[{"name":"kept","value":-2,"unit":"ns","limit":2},
		{"name":"missed","value":2.1,"unit":"ratio","limit":2,"ok":true},
		{"name":"informs","value":9,"unit":"bytes","peer":"kubelet","peer_value":8}]'`)
	if err != nil {
		t.Fatal(err)
	}
	if got := missed(figures); len(got) != 1 || got[0] != "missed" {
		t.Errorf("missed %q", got)
	}
	if f := figures[2]; f.Limit != nil || f.Peer != "kubelet" || *f.PeerValue != 8 {
		t.Errorf("a figure without a limit: %+v", f)
	}
}

func TestTheLifecycleIsMeasuredTenTimes(t *testing.T) {
	t.Parallel()
	_, err := lifecycleBy(t, `case "$*" in *"-rounds 10") echo '[{"name":"a","unit":"ns"}]' ;; esac`)
	if err != nil {
		t.Error(err)
	}
}

func TestABenchOfTheLifecycleThatFails(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"it ends with an error":    "echo why >&2; exit 3",
		"it prints something else": "echo hello",
		"it has measured nothing":  "echo '[]'",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			figures, err := lifecycleBy(t, script)
			if err == nil {
				t.Fatalf("it counts as %+v", figures)
			}
			if strings.Contains(script, "why") && !strings.Contains(err.Error(), "why") {
				t.Errorf("the error does not say why: %v", err)
			}
		})
	}
}

func TestABenchOfTheLifecycleThatIsInterruptedCleansUp(t *testing.T) {
	t.Parallel()
	r := &run{root: t.TempDir(), rounds: 1, progress: &bytes.Buffer{}}
	program := writeScript(t, "trap 'echo cleaned >&2; exit 1' INT; echo ready >&2; while :; do sleep 0.05; done")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := r.driveLifecycle(ctx, program); err == nil || !strings.Contains(err.Error(), "cleaned") {
		t.Errorf("it was ended otherwise: %v", err)
	}
}

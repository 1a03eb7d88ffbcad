package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wardlet/wardlet/test/wasmtest"
)

func TestPolicyRun(t *testing.T) {
	t.Parallel()
	denying := wasmtest.Answering(1, "NotNice", "because it is so")
	patching := wasmtest.Patching(0, `[{"op": "add", "path": "/metadata/labels", "value": {"team": "none"}}]`)
	for name, test := range map[string]struct {
		module []byte
		keys   string
		args   []string
	}{
		"policy-run":            {denying, pinned(denying) + admitKeys, []string{"--pod", "web.yaml"}},
		"policy-run-json":       {denying, pinned(denying) + admitKeys, []string{"--pod", "web.yaml", "-o", "json"}},
		"policy-run-unpinned":   {denying, admitKeys + "mode = \"off\"\n", []string{"--pod", "web.yaml"}},
		"policy-run-patch":      {patching, pinned(patching) + admitKeys + "mutable_paths = [\"/metadata/labels\"]\n", []string{"--pod", "web.yaml"}},
		"policy-run-reach":      {patching, pinned(patching) + admitKeys + "mutable_paths = [\"/metadata/annotations\"]\n", []string{"--pod", "web.yaml"}},
		"policy-run-source":     {denying, pinned(denying) + admitKeys + "match.sources = [\"api\"]\n", []string{"--pod", "web.yaml", "--kind", "file"}},
		"policy-run-any-source": {denying, pinned(denying) + admitKeys + "match.sources = [\"api\"]\n", []string{"--pod", "web.yaml"}},
		"policy-run-new": {
			denying, pinned(denying) + admitKeys + "match.operations = [\"UPDATE\"]\n", []string{"--pod", "web.yaml"},
		},
		"policy-run-change": {
			denying, pinned(denying) + admitKeys + "match.operations = [\"UPDATE\"]\n", []string{"--pod", "web.yaml", "--old", "web.yaml"},
		},
		"policy-run-time": {
			denying, pinned(denying) + admitKeys + "match.conditions = [\"request.time > timestamp('2026-05-01T00:00:00Z')\"]\n",
			[]string{"--pod", "web.yaml", "--time", "2026-06-01T00:00:00+02:00"},
		},
		"policy-run-merge": {
			wasmtest.Merging(1, "", ""), pinned(wasmtest.Merging(1, "", "")) + "hooks = [\"merge\"]\n",
			[]string{"--pod", "web.yaml", "--source", "a", "--pod", "p.pod", "--source", "b", "--old", "web.yaml"},
		},
		"policy-run-hook":       {denying, pinned(denying) + admitKeys, []string{"--pod", "web.yaml", "--hook", "filter"}},
		"policy-run-facts":      {denying, pinned(denying) + admitKeys, []string{"--pod", "web.yaml", "--node-facts", "p.toml"}},
		"policy-run-references": {denying, pinned(denying) + admitKeys, []string{"--pod", "web.yaml", "--references", "p.toml"}},
		"policy-run-no-pod":     {denying, pinned(denying) + admitKeys, []string{"--pod", "none.yaml"}},
		"policy-run-bad-pod":    {denying, pinned(denying) + admitKeys, []string{"--pod", "bad.yaml"}},
		"policy-run-broken":     {denying, "hoks = []\n", []string{"--pod", "web.yaml"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := draft(t, test.module, test.keys, "p.pod", webPod, "bad.yaml", strings.Replace(webPod, "kind: Pod", "kind: Pot", 1))
			args := []string{"policy", "run", filepath.Join(dir, "p.toml")}
			for _, arg := range test.args {
				if _, err := os.Stat(filepath.Join(dir, arg)); err == nil || strings.HasPrefix(arg, "none") {
					arg = filepath.Join(dir, arg)
				}
				args = append(args, arg)
			}
			golden(t, name, wardlet(t.Context(), args...), dir, "DIR")
		})
	}
	for name, args := range map[string][]string{
		"usage-policy-run-none":     {},
		"usage-policy-run-nothing":  {"p.toml"},
		"usage-policy-run-both":     {"p.toml", "--pod", "a", "--decision", "operator-1"},
		"usage-policy-run-state":    {"p.toml", "--pod", "a", "--state", "b"},
		"usage-policy-run-hook":     {"p.toml", "--pod", "a", "--hook", "evict"},
		"usage-policy-run-kind":     {"p.toml", "--pod", "a", "--kind", "git"},
		"usage-policy-run-time":     {"p.toml", "--pod", "a", "--time", "noon"},
		"usage-policy-run-surplus":  {"p.toml", "--pod", "a", "--source", "b", "--source", "c"},
		"help-policy-run":           {"--help"},
		"policy-run-no-such-policy": {"none.toml", "--pod", "policyrun_test.go"},
	} {
		golden(t, name, wardlet(t.Context(), append([]string{"policy", "run"}, args...)...))
	}
}

// pipe creates a named pipe and writes text to it once, when the pipe is read.
func pipe(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(name, []byte(text), 0o600) }()
	t.Cleanup(func() {
		if err := <-written; err != nil {
			t.Error(err)
		}
	})
	return name
}

func TestPolicyRun_readsPipesToTheirEnd(t *testing.T) {
	t.Parallel()
	module := wasmtest.Filtering(0, 0, "", "")
	document := filepath.Join(draft(t, module, pinned(module)+"hooks = [\"filter\"]\n"), "p.toml")
	text := "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: c, image: fine}]}\n"
	for name, args := range map[string]func() []string{
		"once":                       func() []string { return []string{"--pod", pipe(t, text)} },
		"and another":                func() []string { return []string{"--pod", pipe(t, text), "--old", pipe(t, text)} },
		"once for two flags of one":  func() []string { one := pipe(t, text); return []string{"--pod", one, "--old", one} },
		"with facts that are a pipe": func() []string { return []string{"--pod", pipe(t, text), "--node-facts", pipe(t, "labels: {a: b}\n")} },
	} {
		if got := wardlet(t.Context(), append([]string{"policy", "run", document}, args()...)...); !strings.Contains(got, "p: pass") {
			t.Errorf("%s:\n%s", name, got)
		}
	}
	if got := wardlet(t.Context(), "policy", "run", document, "--pod", "/dev/zero"); !strings.Contains(got, "/dev/zero has more than the 1048576 bytes that a pod may have") {
		t.Errorf("what has no end:\n%s", got)
	}
}

func TestPolicyRun_leavesAPipeThatNobodyWritesTo(t *testing.T) {
	t.Parallel()
	silent := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(silent, 0o600); err != nil {
		t.Fatal(err)
	}
	module := wasmtest.Filtering(0, 0, "", "")
	document := filepath.Join(draft(t, module, pinned(module)+"hooks = [\"filter\"]\n"), "p.toml")
	key := "RWR9znGJQMfc8vhl0AobYNUKTUsOjcn4KcE4xFmZBmv88q3K+ER2xkMU"
	for name, args := range map[string][]string{
		"run":    {"policy", "run", document, "--pod", silent},
		"bench":  {"policy", "bench", document, "--pod", silent},
		"sign":   {"policy", "sign", filepath.Dir(document), "--key", silent},
		"verify": {"policy", "verify", filepath.Dir(document), "--key", key, "--key", silent},

		"the agent": {"run", "-c", silent},
		"check":     {"check", "-c", silent},
		"get":       {"get", "pods", "-c", silent},
		"test":      {"policy", "test", filepath.Dir(document), "-c", silent},
		"lint":      {"policy", "lint", filepath.Dir(document), "-c", silent},
		"replay":    {"policy", "replay", "-c", silent},
		"inspect":   {"policy", "inspect", document, "-c", silent},
		"decision":  {"policy", "run", document, "--decision", "operator-1", "-c", silent},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		ended := make(chan string, 1)
		go func() { ended <- wardlet(ctx, args...) }()
		select {
		case got := <-ended:
			if !strings.Contains(got, silent+" was not read to its end") {
				t.Errorf("%s:\n%s", name, got)
			}
		case <-time.After(20 * time.Second):
			t.Errorf("%s goes on after it was told to end", name)
		}
		cancel()
	}
	// The commands may still wait for a writer of the pipe. Opening and closing the pipe ends that
	// wait, so that no goroutine is left.
	f, err := os.OpenFile(silent, os.O_WRONLY|unix.O_NONBLOCK, 0)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Error(err)
	}
}

func TestADecisionOnRecordIsPutToAnotherPolicy(t *testing.T) {
	t.Parallel()
	state := decided(t) // denies images that are called evil
	module := wasmtest.Denying("object.spec.@containers[*].image", "fine")
	dir := draft(t, module, pinned(module)+admitKeys)
	run := func(id string) string {
		return wardlet(t.Context(), "policy", "run", filepath.Join(dir, "p.toml"), "--decision", id, "--state", state)
	}
	for id, want := range map[string]string{
		"operator-1": "p: allow\n", "operator-2": "p: allow\n", "operator-3": "p: deny\n",
		"operator-9": "wardlet: the decision operator-9 is not on record; ",
	} {
		if got := run(id); !strings.Contains(got, want) {
			t.Errorf("%s, want %s:\n%s", id, want, got)
		}
	}
	other := draft(t, wasmtest.Filtering(0, 0, "", ""), "hooks = [\"filter\"]\n")
	got := wardlet(t.Context(), "policy", "run", filepath.Join(other, "p.toml"), "--decision", "operator-1", "--state", state)
	if want := `the decision is about the hook admit, and the policy has ["filter"]`; !strings.Contains(got, want) {
		t.Errorf("a policy of another hook:\n%s", got)
	}
}

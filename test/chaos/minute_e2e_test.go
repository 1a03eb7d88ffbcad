//go:build e2e

package main

import (
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// theSeed repeats a run: go test -tags e2e ./test/chaos -seed 7.
var theSeed = flag.Uint64("seed", 0, "what is done when; 0 for one of its own")

// builtAgent is the agent, built with flags.
func builtAgent(t *testing.T, flags ...string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("it starts real containers, which needs root: run it as root, or with sudo -E")
	}
	wardlet := filepath.Join(t.TempDir(), "wardlet")
	args := append([]string{"build", "-o", wardlet}, flags...)
	out, err := exec.Command("go", append(args, "github.com/wardlet/wardlet/cmd/agent")...).CombinedOutput()
	if err != nil {
		t.Fatalf("build the agent: %v\n%s", err, out)
	}
	return wardlet
}

func TestAMinuteOfChaosLeavesAllAsItShould(t *testing.T) {
	seed := *theSeed
	if seed == 0 {
		seed = rand.Uint64()>>40 + 1
	}
	err := play(t.Context(), &options{
		form: formFor(time.Minute), seed: seed, wardlet: builtAgent(t, "-race"),
		policies: "../../build/policies", logs: "../../build/chaos", out: t.Output(), report: t.Output(),
	})
	if err != nil {
		t.Errorf("seed %d: %v", seed, err)
	}
}

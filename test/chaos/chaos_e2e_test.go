//go:build e2e

package main

import (
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// theSeed repeats the script of a run: go test -tags e2e ./test/chaos -seed 7.
var theSeed = flag.Uint64("seed", 0, "what is done when; 0 for one of its own")

// whole and part are set by make soak to a minute with all 50 pods.
var (
	whole = flag.Duration("for", 30*time.Second, "how long to disturb, about")
	part  = flag.Int("part", 3, "the part of the pods that there are, at least one of each shape")
)

var raced = flag.Bool("raced", false, "run an agent with the race detector")

// builtAgent builds the agent as it is shipped, or with the race detector.
func builtAgent(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("it starts real containers, which needs root: run it as root, or with sudo -E")
	}
	wardlet := filepath.Join(t.TempDir(), "wardlet")
	build := exec.Command("go", "build", "-o", wardlet, "github.com/wardlet/wardlet/cmd/agent")
	if *raced {
		build.Args = slices.Insert(build.Args, 2, "-race")
		build.Env = append(os.Environ(), "CGO_ENABLED=1")
	}
	out, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("build the agent: %v\n%s", err, out)
	}
	return wardlet
}

func TestChaosLeavesAllAsItShould(t *testing.T) {
	seed := *theSeed
	if seed == 0 {
		seed = rand.Uint64()>>40 + 1
	}
	err := play(t.Context(), &options{
		form: formFor(*whole), shapes: fewer(shapes(), *part), seed: seed, wardlet: builtAgent(t),
		policies: "../../build/policies", logs: "../../build/chaos", out: t.Output(), report: t.Output(),
	})
	if err != nil {
		t.Errorf("seed %d: %v", seed, err)
	}
}

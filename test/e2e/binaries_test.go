//go:build e2e

package e2e

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
)

var raced = flag.Bool("raced", false, "run agents with the race detector: slowly, as it makes compiling a plugin take ten times as long")

// The agent is built once each: as it ships; with the race detector; and as one that can be told to kill itself.
var (
	plainBinary    = built("wardlet", "-trimpath", "-tags", "grpcnotrace")
	racedBinary    = built("wardlet-raced", "-race")
	crashingBinary = built("wardlet-crashing", "-trimpath", "-tags", "grpcnotrace crashpoints")
)

// wardletBinary is the agent of tests that say nothing else.
func wardletBinary() (string, error) {
	if *raced {
		return racedBinary()
	}
	return plainBinary()
}

func built(name string, flags ...string) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		binary := filepath.Join(buildDir, name)
		build := exec.Command("go", append(append([]string{"build", "-o", binary}, flags...), "github.com/wardlet/wardlet/cmd/agent")...)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if slices.Contains(flags, "-race") {
			build.Env = append(os.Environ(), "CGO_ENABLED=1")
		}
		if out, err := build.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build the agent %s: %w\n%s", name, err, out)
		}
		return binary, nil
	})
}

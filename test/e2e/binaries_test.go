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

// The agent is built once in each variant: as it is shipped, with the race detector, and with
// crash points, at which it kills itself.
var (
	plainBinary    = built("wardlet", "-trimpath", "-tags", "grpcnotrace")
	racedBinary    = built("wardlet-raced", "-race")
	crashingBinary = built("wardlet-crashing", "-trimpath", "-tags", "grpcnotrace crashpoints")
)

// wardletBinary returns the agent binary of tests that need no special one.
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

//go:build e2e

package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
)

// raceOptions has a process with the race detector end when it is done: otherwise it lingers for a second, and every
// subcommand that a test runs is such a process.
const raceOptions = "atexit_sleep_ms=0"

// The agent is built once each: with the race detector; without it, with which no time says anything; and as one that
// can be told to kill itself.
var (
	wardletBinary  = built("wardlet", "-race")
	plainBinary    = built("wardlet-plain")
	crashingBinary = built("wardlet-crashing", "-tags", "crashpoints")
)

func built(name string, flags ...string) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		binary := filepath.Join(buildDir, name)
		args := append([]string{"build", "-o", binary}, flags...)
		out, err := exec.Command("go", append(args, "github.com/wardlet/wardlet/cmd/agent")...).CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("build the agent %s: %w\n%s", name, err, out)
		}
		return binary, nil
	})
}

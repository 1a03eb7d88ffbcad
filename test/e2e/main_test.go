//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"testing"
)

// buildDir holds what tests built; it is removed after the tests.
var buildDir string

func TestMain(m *testing.M) {
	if os.Geteuid() != 0 {
		fmt.Fprintln(os.Stderr, "the end-to-end tests start containers and need root: run them as root, or with sudo -E")
		os.Exit(1)
	}
	var err error
	if buildDir, err = os.MkdirTemp("", "wardlet-e2e-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := os.RemoveAll(buildDir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

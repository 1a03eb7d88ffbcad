package state

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain runs the program of a child process if the environment names one.
func TestMain(m *testing.M) {
	if name := os.Getenv(childVariable); name != "" {
		os.Exit(runChild(name))
	}
	goleak.VerifyTestMain(m)
}

package state

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain makes the test binary a child of one of its tests where the
// environment says so.
func TestMain(m *testing.M) {
	if name := os.Getenv(childVariable); name != "" {
		os.Exit(runChild(name))
	}
	goleak.VerifyTestMain(m)
}

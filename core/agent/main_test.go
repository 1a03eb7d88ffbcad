package agent

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/wardlet/wardlet/core/parts"
)

func TestMain(m *testing.M) {
	if status, isChild := parts.Child(); isChild {
		os.Exit(status)
	}
	goleak.VerifyTestMain(m)
}

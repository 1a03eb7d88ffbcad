package policy

import (
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/compile"
)

func TestMain(m *testing.M) {
	if status, isChild := wasm.Child(); isChild {
		os.Exit(status)
	}
	goleak.VerifyTestMain(m)
}

// patientLimits are for compiling with the race detector, which is slow.
var patientLimits = compile.Limits{CPU: 2 * time.Minute, Wall: 5 * time.Minute}

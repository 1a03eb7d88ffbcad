package plane

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
	if dir := os.Getenv(rewriterDir); dir != "" {
		os.Exit(rewriter(dir))
	}
	goleak.VerifyTestMain(m)
}

// patient are compilation limits for a busy machine and the race detector.
var patient = compile.Limits{CPU: 2 * time.Minute, Wall: 5 * time.Minute}

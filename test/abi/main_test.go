package abi

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/wardlet/wardlet/core/policy/wasm"
)

var update = flag.Bool("update", false, "write what comes out into cases.json: fuel and texts, never what a case decides")

// workDir is the directory of built guests and compiled code.
var workDir string

func TestMain(m *testing.M) {
	if status, isChild := wasm.Child(); isChild {
		os.Exit(status)
	}
	dir, err := os.MkdirTemp("", "wardlet-conformance")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	workDir = dir
	goleak.VerifyTestMain(m, goleak.Cleanup(func(status int) {
		_ = os.RemoveAll(dir) // what is left is in the system's temporary directory
		os.Exit(status)
	}))
}

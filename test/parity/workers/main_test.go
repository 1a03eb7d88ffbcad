package workers

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// program is the path of the program with a kubelet's workers.
var program string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "podworkers")
	if err == nil {
		program, err = build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		_ = os.RemoveAll(dir)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(dir)
		os.Exit(code)
	}))
}

package replay

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/wardlet/wardlet/core/policy/wasm"
)

func TestMain(m *testing.M) {
	if status, isChild := wasm.Child(); isChild {
		os.Exit(status)
	}
	goleak.VerifyTestMain(m)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

package compile

import (
	"errors"
	"os"
	"testing"
)

// TestRunner_startsNoChildFromAChild is not parallel: it changes the arguments of the
// process.
func TestRunner_startsNoChildFromAChild(t *testing.T) {
	args := os.Args
	defer func() { os.Args = args }()
	os.Args = []string{args[0], childArgument}
	if _, err := (&runner{}).run(t.Context(), t.TempDir(), Digest{}, nil, nil); !errors.Is(err, errNotChild) {
		t.Errorf("error %v, want %v", err, errNotChild)
	}
}

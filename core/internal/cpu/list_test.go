package cpu

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParseList(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]int{
		"0": {0}, "0-3": {0, 1, 2, 3}, "0,2-3,65535": {0, 2, 3, 65535},
		"": nil, "-": nil, "3-1": nil, "0-": nil, "a": nil, "0,": nil, "65536": nil, "0-4294967295": nil,
	} {
		if diff := cmp.Diff(want, parseList(text), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestReadList(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "online")
	if got := readList(file); len(got) != runtime.NumCPU() {
		t.Errorf("without the file: %v", got)
	}
	if err := os.WriteFile(file, []byte("0-1,4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{0, 1, 4}, readList(file)); diff != "" {
		t.Errorf("CPUs (-want +got):\n%s", diff)
	}
	if len(Online()) == 0 || len(Possible()) < len(Online()) {
		t.Errorf("online are %v, possible are %v", Online(), Possible())
	}
}

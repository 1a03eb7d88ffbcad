package wasm

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// guestDir is the directory of the built Go guests and of their compiled code.
var guestDir string

func TestMain(m *testing.M) {
	if status, isChild := Child(); isChild {
		os.Exit(status)
	}
	dir, err := os.MkdirTemp("", "wardlet-guest")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	guestDir = dir
	goleak.VerifyTestMain(m, goleak.Cleanup(func(status int) {
		_ = os.RemoveAll(dir) // the rest is in the system's temporary directory
		os.Exit(status)
	}))
}

// buildGuest compiles testdata/guest to WebAssembly, once.
var buildGuest = sync.OnceValues(func() ([]byte, error) { return build(".", "./testdata/guest") })

// build compiles a package of the module in dir to WebAssembly.
func build(dir, pkg string) ([]byte, error) {
	file, err := os.CreateTemp(guestDir, "*.wasm")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	compile := exec.Command("go", "build", "-C", dir, "-trimpath", "-buildvcs=false", "-buildmode=c-shared", "-ldflags=-s -w", "-o", file.Name(), pkg)
	compile.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0")
	if text, err := compile.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build %s: %w\n%s", pkg, err, text)
	}
	return os.ReadFile(file.Name())
}

// compiling makes tests wait while the first one compiles a guest; then they find the code in
// the cache.
var compiling sync.Mutex

// loadShared loads a plugin, with the cache of compiled code that all tests share.
func loadShared(tb testing.TB, binary []byte, settings map[string]any) (*Plugin, *testLog, error) {
	tb.Helper()
	compiling.Lock()
	defer compiling.Unlock()
	log := &testLog{}
	e := engineIn(tb, filepath.Join(guestDir, "cache"), log)
	o := testOptions()
	o.MemoryPages, o.Fuel, o.Settings = 64, 1<<30, settings
	p, err := e.Load(tb.Context(), binary, o)
	if err == nil {
		tb.Cleanup(func() {
			if err := p.Close(); err != nil {
				tb.Error(err)
			}
		})
	}
	return p, log, err
}

func tryGuest(tb testing.TB, mode string) (*Plugin, *testLog, error) {
	tb.Helper()
	binary, err := buildGuest()
	if err != nil {
		tb.Fatal(err)
	}
	return loadShared(tb, binary, map[string]any{"mode": mode})
}

// loadGuest loads the Go guest with its mode set.
func loadGuest(tb testing.TB, mode string) (*Plugin, *testLog) {
	tb.Helper()
	p, log, err := tryGuest(tb, mode)
	if err != nil {
		tb.Fatal(err)
	}
	return p, log
}

func TestGoGuestJudges(t *testing.T) {
	t.Parallel()
	p, log := loadGuest(t, "")
	for range 3 {
		if got := admit(t, p, "good", "fine"); got.Answer != api.Allow {
			t.Errorf("answer %+v", got)
		}
		got := admit(t, p, "good", "evil")
		if got.Answer != api.Deny || got.Reason != "ImageNotAllowed" || got.Message != "image evil is not allowed" {
			t.Errorf("answer %+v", got)
		}
	}
	if log.String() != "" {
		t.Errorf("log %s", log)
	}
}

func TestGoGuestLivesInASealedWorld(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{
		"sleep":      "1h0m0s", // passes at once on the plugin's own clock
		"time":       "2026-11-21T12:00:00Z",
		"goroutines": "45",
		"counter":    "1",
		"garbage":    "224700",
	} {
		p, log := loadGuest(t, mode)
		for range 3 { // no call may read what an earlier one left
			if got := admit(t, p, "good"); got.Message != want {
				t.Errorf("%s: %q, want %q", mode, got.Message, want)
			}
		}
		if log.String() != "" {
			t.Errorf("%s: log %s", mode, log)
		}
	}
}

func TestGoGuestRollsTheSameForTheSameQuestion(t *testing.T) {
	t.Parallel()
	p, _ := loadGuest(t, "random")
	first := admit(t, p, "a").Message
	if first == "" || admit(t, p, "a").Message != first {
		t.Error("the same question, other random numbers")
	}
	other, _ := loadGuest(t, "random")
	if got := admit(t, other, "a").Message; got != first {
		t.Errorf("another instance: %q, want %q", got, first)
	}
}

func TestGoGuestFails(t *testing.T) {
	t.Parallel()
	for mode, test := range map[string]struct {
		code abi.FailureCode
		want string
	}{
		"panic":     {abi.Trap, "unreachable; it wrote: panic: no opinion"},
		"exit":      {abi.Trap, "the plugin ended itself with status 3"},
		"memory":    {abi.MemoryLimit, "it wrote: runtime: out of memory: "},
		"recursion": {abi.MemoryLimit, "it wrote: runtime: out of memory: "}, // its stack is in the guest's memory
		"grow":      {abi.Trap, "it wrote: runtime: out of memory: "},        // a single allocation, larger than the memory limit
	} {
		p, _ := loadGuest(t, mode)
		for range 2 {
			if got := admitFailure(t, p, "x"); got.Code != test.code || !strings.Contains(got.Error(), test.want) {
				t.Errorf("%s: %v\nwant %s: %s", mode, got, test.code, test.want)
			}
		}
	}
}

func TestGoGuestIsRefusedWhenItExitsAtInit(t *testing.T) {
	t.Parallel()
	_, _, err := tryGuest(t, "exit at init")
	failure, ok := errors.AsType[*abi.Failure](err)
	if !ok || failure.Error() != "Trap: wardlet_init: the plugin ended itself with status 7" {
		t.Errorf("error %v", err)
	}
}

func TestGoGuestWritesToTheLog(t *testing.T) {
	t.Parallel()
	p, log := loadGuest(t, "print")
	admit(t, p, "x")
	want := `level=WARN msg="a plugin logs" policy=test text="to standard error"
level=INFO msg="a plugin logs" policy=test text="to standard output"
level=INFO msg="a plugin logs" policy=test text="without an end"
`
	if got := log.String(); got != want {
		t.Errorf("log\n%s\nwant\n%s", got, want)
	}
}

package attack

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
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
	dir, err := os.MkdirTemp("", "wardlet-attack-")
	if err != nil {
		panic(err)
	}
	cacheDir = dir
	defer func() { _ = os.RemoveAll(dir) }()
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(dir)
		os.Exit(code)
	}))
}

// cacheDir keeps the modules assembled for the tests of this process.
var cacheDir string

// modules returns all attacks.
func modules(t *testing.T) []*Module {
	t.Helper()
	all, err := allModules()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var allModules = sync.OnceValues(func() ([]*Module, error) {
	ctx := context.Background()
	all, err := Modules(ctx, cacheDir)
	choices, fault := Choices(ctx, cacheDir)
	all = append(all, choices...)
	slices.SortFunc(all, func(a, b *Module) int { return strings.Compare(a.Name, b.Name) })
	return all, errors.Join(err, fault)
})

// named returns the attack of that name.
func named(t *testing.T, name string) *Module {
	t.Helper()
	for _, m := range modules(t) {
		if m.Name == name {
			return m
		}
	}
	t.Fatalf("there is no attack %s", name)
	return nil
}

// patient are limits of compilation for a busy machine, or for the race detector.
var patient = compile.Limits{CPU: 2 * time.Minute, Wall: 5 * time.Minute}

// engine returns a real engine, which is closed with the test, and the log of its plugins.
func engine(t *testing.T, limits compile.Limits, options ...wasm.EngineOption) (*wasm.Engine, *logged) {
	t.Helper()
	log := &logged{}
	e, err := wasm.NewEngine(t.TempDir()+"/cache", slog.New(log), append(options, wasm.WithCompiling(limits, compile.Normal))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e, log
}

// logged has the lines that an engine logged.
type logged struct {
	mu    sync.Mutex
	bytes int
	lines []string
	// faults are lines at level error that do not come from a plugin.
	faults []string
}

func (l *logged) Enabled(context.Context, slog.Level) bool { return true }

func (l *logged) Handle(_ context.Context, r slog.Record) error {
	line := r.Message
	r.Attrs(func(a slog.Attr) bool {
		line += " " + a.String()
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bytes += len(line)
	l.lines = append(l.lines, line)
	if r.Level >= slog.LevelError && r.Message != "a plugin logs" {
		l.faults = append(l.faults, line)
	}
	return nil
}

func (l *logged) WithAttrs([]slog.Attr) slog.Handler { return l }

func (l *logged) WithGroup(string) slog.Handler { return l }

// take returns the lines since the last take.
func (l *logged) take() (lines, faults []string, bytes int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines, faults, bytes = l.lines, l.faults, l.bytes
	l.lines, l.faults, l.bytes = nil, nil, 0
	return lines, faults, bytes
}

// checkLog checks that the log of a plugin is bounded, cannot mislead, and does not show text of
// one call in a line of another; and that the host logs no fault.
func checkLog(t *testing.T, l *logged) {
	t.Helper()
	const most = 96 << 10 // a burst of 32 KiB of escaped bytes
	lines, faults, bytes := l.take()
	if len(faults) > 0 {
		t.Errorf("the host failed: %q", faults)
	}
	if bytes > 6*32<<10+most || len(lines) > 2000 {
		t.Errorf("%d lines in the log, of %d bytes", len(lines), bytes)
	}
	for _, line := range lines {
		if strings.Contains(line, secret) && strings.Contains(line, look) {
			t.Errorf("a line in the log of two calls: %q", line)
		}
		if err := printable(line); err != nil || strings.Contains(line, "\n") {
			t.Errorf("the log: %v: %q", err, line)
		}
	}
}

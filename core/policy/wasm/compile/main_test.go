package compile

import (
	"bytes"
	"context"
	"encoding/hex"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"go.uber.org/goleak"
)

func config(interpreted bool) wazero.RuntimeConfig {
	if interpreted {
		return wazero.NewRuntimeConfigInterpreter()
	}
	return wazero.NewRuntimeConfig().WithDebugInfoEnabled(false)
}

func TestMain(m *testing.M) {
	if status, ok := pretend(); ok {
		os.Exit(status)
	}
	if status, ok := Child(config); ok {
		os.Exit(status)
	}
	goleak.VerifyTestMain(m)
}

// logged is a logger's output that may be read while it is written.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

var testTime = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

// fixture is a library in a directory of the test, with its log.
type fixture struct {
	*Library
	dir string
	out *logged
	// started is a file that grows by one byte with each child.
	started string
	mu      sync.Mutex
	now     time.Time
}

func (f *fixture) clock() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

func (f *fixture) pass(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(d)
}

// children returns how many children were started.
func (f *fixture) children(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(f.started)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return len(text)
}

// library opens a cache and a library in dir, which the test closes at its end.
func library(tb testing.TB, dir string, change ...func(*Options)) *fixture {
	tb.Helper()
	f, err := tryLibrary(tb, dir, change...)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

func tryLibrary(tb testing.TB, dir string, change ...func(*Options)) (*fixture, error) {
	tb.Helper()
	f := &fixture{dir: dir, out: &logged{}, started: filepath.Join(tb.TempDir(), "started"), now: testTime}
	o := Options{
		Config: config, Priority: Normal, Now: f.clock, Spare: []string{tb.TempDir()},
		Log:     slog.New(slog.NewTextHandler(f.out, nil)),
		Limits:  Limits{Wall: 5 * time.Minute, CPU: 5 * time.Minute, LoadCPU: time.Minute},
		Command: []string{"/proc/self/exe", "pretend", "counted", f.started},
	}
	for _, c := range change {
		c(&o)
	}
	cache, err := Open(dir, o)
	if err != nil {
		return nil, err
	}
	r := wazero.NewRuntimeWithConfig(context.Background(), cache.RuntimeConfig())
	tb.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			tb.Error(err)
		}
		if err := cache.Close(); err != nil {
			tb.Error(err)
		}
	})
	f.Library = NewLibrary(cache, r)
	return f, nil
}

// acting makes children play a part known to pretend.
func acting(part ...string) func(*Options) {
	return func(o *Options) { o.Command = append([]string{"/proc/self/exe", "pretend"}, part...) }
}

func limited(l Limits) func(*Options) { return func(o *Options) { o.Limits = l } }

// acquire acquires a module as the operator.
func acquire(tb testing.TB, f *fixture, module []byte) *Code {
	tb.Helper()
	code, err := f.Acquire(tb.Context(), "", Whole(module))
	if err != nil {
		tb.Fatalf("%v; log: %s", err, f.out)
	}
	return code
}

// answers checks that code runs and that its function f returns want.
func answers(t *testing.T, f *fixture, code *Code, want int32) {
	t.Helper()
	instance, err := f.runtime.InstantiateModule(t.Context(), code.Module(), wazero.NewModuleConfig().WithName(""))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { check(t, instance.Close(context.Background())) }()
	got, err := instance.ExportedFunction("f").Call(t.Context())
	if err != nil || len(got) != 1 || int32(got[0]) != want {
		t.Errorf("f() = %v, %v, want %d", got, err, want)
	}
}

func check(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// isEmpty checks that a directory is empty.
func isEmpty(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		t.Errorf("in %s: %v, %v, want nothing", dir, entries, err)
	}
}

// isClean checks that the directories contain no incomplete files.
func (f *fixture) isClean(t *testing.T) {
	t.Helper()
	own, err := os.ReadDir(f.cache.primary.private.path)
	if err != nil || len(own) != 1 || own[0].Name() != lockName {
		t.Errorf("left over: %v, %v", own, err)
	}
	isEmpty(t, filepath.Join(f.cache.view, f.cache.engine))
	err = digestsIn(filepath.Join(f.dir, modulesDir), func(path string) {
		var d Digest
		if _, err := hex.Decode(d[:], []byte(filepath.Base(path))); err != nil {
			t.Error(err)
		}
		o, err := openEntry(path, d, f.cache.maker)
		if err != nil {
			t.Errorf("torn: %v", err)
			return
		}
		if err := o.openFiles(path); err != nil {
			t.Errorf("torn: %v", err)
		}
		check(t, o.close())
	})
	check(t, err)
}

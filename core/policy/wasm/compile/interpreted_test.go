package compile

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
)

func interpreted(o *Options) { o.Interpreted = true }

// without simulates a machine without a compiler.
func without(o *Options) {
	o.Config = func(bool) wazero.RuntimeConfig { return config(true) }
}

// compiles is true if wazero has a compiler for this architecture.
const compiles = runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64"

// twoEngines skips a test of both engines on an architecture with only one.
func twoEngines(t *testing.T) {
	t.Helper()
	if !compiles {
		t.Skip("wazero has no compiler for " + runtime.GOARCH)
	}
}

func TestWhichEngineThereIsIsFoundOut(t *testing.T) {
	t.Parallel()
	for wanted, want := range map[bool]bool{true: true, false: !compiles} {
		if got, err := interprets(config(wanted)); err != nil || got != want {
			t.Errorf("interpreter wanted %t: %t, %v", wanted, got, err)
		}
	}
}

func TestTheAgentInterpretsWhatAChildHasTried(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Options){"by option": interpreted, "without a compiler": without} {
		dir := t.TempDir() + "/cache"
		f := library(t, dir, change)
		a, b := acquire(t, f, small(5)), acquire(t, f, small(5))
		if a.Module() != b.Module() {
			t.Errorf("%s: loaded twice", name)
		}
		a.Release()
		answers(t, f, b, 5)
		if n := len(b.held.entry.Files); n != 0 || !f.cache.Ready(b.Digest()) || b.Cost().LoadCPU <= 0 {
			t.Errorf("%s: %d files, cost %+v", name, n, b.Cost())
		}
		b.Release()
		again := library(t, dir, change)
		code := acquire(t, again, small(5))
		answers(t, again, code, 5)
		code.Release()
		if n, m := f.children(t), again.children(t); n != 1 || m != 0 || len(f.held) != 0 {
			t.Errorf("%s: %d children, %d after a restart, held %v", name, n, m, f.held)
		}
		if f.out.String() != "" || again.out.String() != "" {
			t.Errorf("%s: log %s%s", name, f.out, again.out)
		}
	}
}

func TestWhatTheInterpreterCannotTakeDiesInTheChild(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		module []byte
		limits Limits
		reason Reason
		text   string
	}{
		"processor time": {broad(24 << 20), Limits{CPU: time.Second}, CPU, "s of processor time to compile"},
		"memory":         {broad(24 << 20), Limits{Memory: 100 << 20}, Memory, "it takes more than 104857600 bytes of memory to compile: "},
		"loading":        {broad(64 << 10), Limits{LoadCPU: 1}, CPU, "of processor time to load its compiled code, at most 1ns are allowed"},
		"memory to load": {broad(64 << 10), Limits{LoadMemory: 1 << 10}, Memory, "bytes to load its compiled code, at most 1024 are allowed"},
		"no module":      {[]byte("no module"), Limits{}, Invalid, "invalid magic number"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limits := test.limits
			limits.Wall, limits.CPU = 5*time.Minute, orDefault(limits.CPU, 5*time.Minute)
			f := library(t, t.TempDir()+"/cache", limited(limits), interpreted)
			isRefused(t, f, test.module, test.reason, test.text)
		})
	}
}

// TestAnEntryIsOfOneEngineAndItsTerms checks that the interpreter does not use an entry of
// the compiler, nor one of its own that was made under other limits.
func TestAnEntryIsOfOneEngineAndItsTerms(t *testing.T) {
	t.Parallel()
	twoEngines(t)
	dir := t.TempDir() + "/cache"
	lower := func(o *Options) { o.Limits.Memory = 512 << 20 }
	for i, step := range []struct {
		name     string
		change   []func(*Options)
		children int
	}{
		{"compiled first", nil, 1},
		{"compiled again", nil, 0},
		{"interpreted after it", []func(*Options){interpreted}, 1},
		{"interpreted again", []func(*Options){interpreted}, 0},
		{"under other limits", []func(*Options){interpreted, lower}, 1},
		{"under other limits again", []func(*Options){interpreted, lower}, 0},
		{"compiled after that", nil, 1},
		{"compiled under other limits", []func(*Options){lower}, 0},
	} {
		f := library(t, dir, step.change...)
		code := acquire(t, f, small(3))
		answers(t, f, code, 3)
		code.Release()
		if n := f.children(t); n != step.children || f.out.String() != "" {
			t.Errorf("%d, %s: %d children, want %d; log %s", i, step.name, n, step.children, f.out)
		}
	}
}

func TestARefusalIsOfOneEngine(t *testing.T) {
	t.Parallel()
	twoEngines(t)
	dir := t.TempDir() + "/cache"
	module := broad(64 << 10)
	little := func(o *Options) { o.Limits.LoadMemory = 1 << 10 }
	isRefused(t, library(t, dir, little), module, Memory, "bytes to load its compiled code")
	f := library(t, dir, little, interpreted)
	if r := f.cache.Refused(digestOf(module)); r != nil {
		t.Errorf("the interpreter has not tried it: %v", r)
	}
}

func TestAChildMustUseTheEngineOfTheAgent(t *testing.T) {
	t.Parallel()
	twoEngines(t)
	for part, test := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"compiled":    {interpreted, "the child that compiles has made 1 files of code for an interpreter"},
		"interpreted": {func(*Options) {}, "was compiled 2 times and is not in the cache"},
	} {
		f := library(t, t.TempDir()+"/cache", acting(part), test.change)
		_, err := f.Acquire(t.Context(), "", Whole(small(1)))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", part, err, test.want)
		}
		if r := f.cache.Refused(digestOf(small(1))); r != nil {
			t.Errorf("%s: held against the module: %v", part, r)
		}
	}
}

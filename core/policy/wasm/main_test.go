package wasm

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
	"github.com/wardlet/wardlet/core/policy/wasm/compile"
)

// testLog is a logger's output that may be read while it is written.
type testLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *testLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *testLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *testLog) logger(level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
}

// headerBytes is the size of the header of a value: u8 type and u32 length.
const headerBytes = 5

func testEngine(tb testing.TB) (*Engine, *testLog) {
	tb.Helper()
	log := &testLog{}
	return engineIn(tb, tb.TempDir()+"/cache", log), log
}

// engineIn returns an engine that the test closes at its end, after the plugins that are
// loaded later.
func engineIn(tb testing.TB, dir string, log *testLog) *Engine {
	tb.Helper()
	limits := compile.Limits{CPU: 2 * time.Minute, Wall: 5 * time.Minute} // the race detector takes its time
	e, err := NewEngine(dir, log.logger(slog.LevelDebug), WithCompiling(limits, compile.Normal))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := e.Close(); err != nil {
			tb.Error(err)
		}
	})
	return e
}

func testOptions() Options {
	return Options{Policy: "test", Hooks: []string{"admit"}, MemoryPages: 4, Fuel: 2_000_000, OutputBytes: 64 << 10, Node: "node-1"}
}

// load loads a plugin that the test closes at its end.
func load(tb testing.TB, binary []byte, change ...func(*Options)) (*Plugin, *testLog) {
	tb.Helper()
	e, log := testEngine(tb)
	o := testOptions()
	for _, c := range change {
		c(&o)
	}
	p, err := e.Load(tb.Context(), binary, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := p.Close(); err != nil {
			tb.Error(err)
		}
	})
	return p, log
}

func question(p *v1.Pod) *abi.Request {
	return &abi.Request{Time: abitest.Time, Question: &api.Question{
		Op: api.Add, Pod: p, Origin: api.Origin{Source: "manifests", Document: "/m/web.yaml#0"},
	}}
}

func admit(tb testing.TB, p *Plugin, images ...string) Result {
	tb.Helper()
	result, err := p.Admit(tb.Context(), question(abitest.Pod(images...)))
	if err != nil {
		tb.Fatal(err)
	}
	result.Fuel, result.Extra = 0, 0 // they vary with the metering
	return result
}

// admitFailure makes a call that must fail, and returns the failure.
func admitFailure(tb testing.TB, p *Plugin, images ...string) *abi.Failure {
	tb.Helper()
	result, err := p.Admit(context.Background(), question(abitest.Pod(images...)))
	if err == nil {
		tb.Fatalf("answered %+v, want a failure", result)
	}
	failure, ok := errors.AsType[*abi.Failure](err)
	if !ok {
		tb.Fatalf("error %v of type %T, want a *Failure", err, err)
	}
	return failure
}

// memoryAfterAdmit returns a part of the guest's memory after its hook, before the memory is
// restored.
func memoryAfterAdmit(t *testing.T, p *Plugin, address, length uint32) []byte {
	t.Helper()
	return memoryAfter(t, p, abi.HookAdmit, question(abitest.Pod()), nil, address, length)
}

// memoryAfter is memoryAfterAdmit for any question.
func memoryAfter(t *testing.T, p *Plugin, hook abi.Hook, r *abi.Request, m *abi.MergeRequest, address, length uint32) []byte {
	t.Helper()
	i, err := p.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer p.give(i, true)
	defer i.call.forget()
	i.put(hook, r, m)
	i.begin(t.Context())
	defer i.finish()
	if err := i.hand(); err != nil {
		t.Fatal(err)
	}
	if err := i.run(t.Context(), i.hooks.of(hook), p.fuel); err != nil {
		t.Fatal(err)
	}
	view, ok := i.memory.Read(address, length)
	if !ok {
		t.Fatalf("no memory at %d", address)
	}
	return bytes.Clone(view)
}

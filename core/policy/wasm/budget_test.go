package wasm

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/policy/wasm/compile"
	w "github.com/wardlet/wardlet/core/policy/wasm/wasmtest"
)

// logging is a plugin that logs a thousand bytes and then gives an answer.
func logging(answer int32) []byte {
	m := w.Plugin(w.Log)
	m.Admit(w.Join(w.I32Const(1), w.I32Const(0), w.I32Const(1000), w.Call(m.Imported("log"))), w.I32Const(answer))
	return m.Bytes()
}

func TestAnEngineKeepsTheBudgetsOfTenants(t *testing.T) {
	t.Parallel()
	log := &testLog{}
	e, err := NewEngine(t.TempDir()+"/cache", log.logger(slog.LevelInfo),
		WithCompileTimes(map[string]time.Duration{"a": time.Nanosecond}), WithLogRates(map[string]int{"a": 64}))
	if err != nil {
		t.Fatal(err)
	}
	load := func(tenant string, answer int32) (*Plugin, error) {
		o := testOptions()
		o.Tenant = tenant
		return e.Load(t.Context(), logging(answer), o)
	}
	p, err := load("a", 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = load("a", 1)
	if _, spent := errors.AsType[*compile.Spent](err); !spent || !errors.Is(err, ErrNotCompiled) {
		t.Errorf("a second module: %v", err)
	}
	other, err := load("b", 1)
	if err != nil {
		t.Errorf("another tenant's: %v", err)
	}
	for tenant, want := range map[string]int{"a": (maxLine + lineCost) / (1000 + lineCost), "b": 10, "": 10} {
		before := strings.Count(log.String(), "a plugin logs")
		q := question(testPod())
		q.Tenant = tenant
		for range 10 {
			if _, err := p.Admit(t.Context(), q); err != nil {
				t.Error(err)
			}
		}
		if got := strings.Count(log.String(), "a plugin logs") - before; got != want {
			t.Errorf("tenant %q: %d lines, want %d", tenant, got, want)
		}
	}
	if err := errors.Join(p.Close(), other.Close(), e.Close()); err != nil {
		t.Error(err)
	}
}

package wasm

import (
	"crypto/sha256"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
	"github.com/wardlet/wardlet/core/policy/wasm/compile"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

// logging returns a plugin that logs a thousand bytes and then returns an answer.
func logging(answer int32) []byte {
	m := w.Plugin(w.Log)
	m.Admit(w.Join(w.I32Const(1), w.I32Const(0), w.I32Const(1000), w.Call(m.Imported("log"))), w.I32Const(answer))
	return m.Bytes()
}

func TestAModuleThatIsForgottenIsCompiledOnceMore(t *testing.T) {
	t.Parallel()
	e, _ := testEngine(t)
	m := w.Plugin()
	m.Func(nil, nil, nil, w.I64Const(1), w.Code{0x45}, w.Drop) // an operand of the wrong type
	m.Admit(w.I32Const(0))
	binary, o := m.Bytes(), testOptions()
	refused := func() string {
		p, err := e.Load(t.Context(), binary, o)
		if p != nil || err == nil || !strings.Contains(err.Error(), "the module is refused (invalid, tried at ") {
			t.Fatalf("loaded: %v, %v", p, err)
		}
		return err.Error()
	}
	first := refused()
	if again := refused(); again != first {
		t.Errorf("%s\nand the next time\n%s", first, again)
	}
	_, source, err := e.accept(t.Context(), binary, sha256.Sum256(binary), &o)
	if err != nil || e.cache.Refused(source.Digest) == nil {
		t.Fatal("it is not remembered", err)
	}
	if err := e.Forget(t.Context(), binary, o); err != nil || e.cache.Refused(source.Digest) != nil {
		t.Errorf("it is not forgotten: %v", err)
	}
	refused()
	if e.cache.Refused(source.Digest) == nil {
		t.Error("it was not tried again")
	}
	if err := e.Forget(t.Context(), []byte("no module"), o); err != nil {
		t.Errorf("what was never compiled: %v", err)
	}
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
	// After escaping, a line of 1000 NULs is as long as the longest line.
	for tenant, want := range map[string]int{"a": 1, "b": 32 << 10 / (4<<10 + 64), "": 32 << 10 / (4<<10 + 64)} {
		before := strings.Count(log.String(), "a plugin logs")
		q := question(abitest.Pod())
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

package wasm

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

var everyHook = []string{string(abi.HookAdmit), string(abi.HookMerge), string(abi.HookFilter)}

func TestAPluginThatWasWarmedIsTrustedInItsFirstCall(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		module []byte
		hooks  []string
	}{
		"by admit":  {w.Answering(1, "No", "no"), everyHook[:1]},
		"by merge":  {w.Merging(0, "", ""), everyHook[1:2]},
		"by filter": {w.Filtering(0, 0, "", ""), everyHook[2:]},
	} {
		p, _ := load(t, tc.module, func(o *Options) { o.Hooks = tc.hooks })
		assertTrusted(t, p, false, name+", before")
		p.Warm(t.Context(), tc.hooks)
		assertTrusted(t, p, true, name)
		if p.pool.made != 1 {
			t.Errorf("%s: %d instances", name, p.pool.made)
		}
	}
}

func TestWarmingIsOverSoonAndCostsNothingWhateverThePluginDoes(t *testing.T) {
	t.Parallel()
	for name, module := range map[string][]byte{
		"it loops": w.Looping(), "it traps": w.Trapping(), "it grows": growingByOne(), "it answers nonsense": w.Answering(99, "", ""),
	} {
		p, _ := load(t, module)
		p.pool.now = func() time.Time { return abitest.Time }
		if calls, _ := p.warm(t.Context(), everyHook[:1]); calls != 1 && name != "it answers nonsense" {
			t.Errorf("%s: %d calls", name, calls)
		}
		if len(p.pool.losses) != 0 || p.pool.made != 1 || len(p.pool.clean) != 1 {
			t.Errorf("%s: losses %v, %d instances, of which %d are ready", name, p.pool.losses, p.pool.made, len(p.pool.clean))
		}
		for range rebuildsPerSecond {
			if _, err := p.Admit(t.Context(), question(abitest.Pod())); errors.Is(err, ErrNotReady) {
				t.Errorf("%s: it is not ready for its first %d calls", name, rebuildsPerSecond)
				break
			}
		}
	}
}

func TestDryRun_whatItBreaksDoesNotCount(t *testing.T) {
	t.Parallel()
	for name, module := range map[string][]byte{"it traps": w.Trapping(), "it grows": growingByOne()} {
		p, _ := load(t, module)
		p.pool.now = func() time.Time { return abitest.Time }
		q := question(abitest.Pod())
		q.Tenant = "a"
		for range 2 * rebuildsPerSecond {
			if _, err := p.Admit(DryRun(t.Context()), q); errors.Is(err, ErrNotReady) {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if len(p.pool.losses) != 0 {
			t.Errorf("%s: losses %v", name, p.pool.losses)
		}
		for range 2 * rebuildsPerSecond {
			_, _ = p.Admit(t.Context(), q)
		}
		if _, err := p.Admit(t.Context(), q); !errors.Is(err, ErrNotReady) {
			t.Errorf("%s: on the tenant's account: %v", name, err)
		}
		if _, err := p.Admit(DryRun(t.Context()), q); errors.Is(err, ErrNotReady) {
			t.Errorf("%s: kept from it by what the tenant broke", name)
		}
	}
}

func TestNothingIsLoggedOfPodsThatThereAreNot(t *testing.T) {
	t.Parallel()
	m := w.Plugin(w.Log)
	m.Data(w.Texts, "I was asked")
	m.Admit(w.Join(w.I32Const(2), w.I32Const(w.Texts), w.I32Const(11), w.Call(m.Imported("log"))), w.I32Const(0))
	p, log := load(t, m.Bytes())
	p.Warm(t.Context(), everyHook)
	if text := log.String(); text != "" {
		t.Errorf("logged: %s", text)
	}
	q := question(abitest.Pod())
	q.Tenant = "a"
	if _, err := p.Admit(DryRun(t.Context()), q); err != nil || !strings.Contains(log.String(), "tenant=a") {
		t.Errorf("%v, and of one that there is it logs %q", err, log.String())
	}
}

func TestAPluginIsWarmedAFewTimesAndWithLittleFuel(t *testing.T) {
	t.Parallel()
	module := func(turns int32) []byte {
		m := w.Plugin()
		m.Admit(w.Loop(
			w.LocalGet(0), w.I32Const(1), w.I32Add, w.LocalSet(0),
			w.LocalGet(0), w.I32Const(turns), w.I32LtU, w.BrIf(0)), w.I32Const(0))
		return m.Bytes()
	}
	for _, tc := range []struct {
		name   string
		turns  int32
		storms int64
		calls  int
	}{
		{"it is trusted soon", 1, 0, calmCalls + 1},
		{"it is never trusted", 1, mostStorms, warmCalls},
		{"it takes what it may", 20_000, 0, calmCalls + 1},
		{"it takes more", 80_000, 0, 1},
	} {
		p, _ := load(t, module(tc.turns), func(o *Options) { o.Fuel = 1 << 30 })
		p.storms.Store(tc.storms)
		calls, fuel := p.warm(t.Context(), everyHook[:1])
		if calls != tc.calls {
			t.Errorf("%s: %d calls, want %d", tc.name, calls, tc.calls)
		}
		if each := fuel / int64(calls); each < min(int64(tc.turns), warmFuel) {
			t.Errorf("%s: %d calls took %d", tc.name, calls, fuel)
		}
	}
}

// TestCallsAboutPodsThatThereAreNotGetShortSlices counts storms: a storm needs long slices.
func TestCallsAboutPodsThatThereAreNotGetShortSlices(t *testing.T) {
	t.Parallel()
	const touched = 64 << 16
	m := w.Plugin()
	m.Export("_initialize", m.Func(nil, nil, nil, w.I32Const(63), w.MemoryGrow, w.Drop))
	m.Admit(w.I32Const(0))
	m.Filter(w.Loop(
		w.LocalGet(0), w.I32Const(1), w.I32Store(0),
		w.LocalGet(0), w.I32Const(4096), w.I32Add, w.LocalSet(0),
		w.LocalGet(0), w.I32Const(touched), w.I32LtU, w.BrIf(0)), w.I32Const(0))
	hooks := []string{string(abi.HookAdmit), string(abi.HookFilter)}
	p, _ := load(t, m.Bytes(), func(o *Options) { o.Hooks, o.MemoryPages = hooks, 64 })
	p.Warm(t.Context(), hooks)
	if p.storms.Load() != 0 {
		t.Error("a storm while it was warmed")
	}
	ask := func(ctx context.Context) {
		if _, err := p.Filter(ctx, question(abitest.Pod())); err != nil {
			t.Error(err)
		}
		p.Reset(t.Context())
	}
	for range 2 {
		calls(t, p, calmCalls+1, 0, 0)
		p.Trim()
		p.Trim() // releases its pages
		calls(t, p, calmCalls+1, 0, 0)
		ask(DryRun(t.Context()))
	}
	if p.storms.Load() != 0 {
		t.Error("a storm in a test of its policy")
	}
}

package wasm

import (
	"testing"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

// oneInstance returns the only instance of a plugin, which no other caller uses.
func oneInstance(t *testing.T, p *Plugin) *instance {
	t.Helper()
	i, err := p.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.give(i, true)
	if p.pool.made != 1 {
		t.Errorf("%d instances", p.pool.made)
	}
	return i
}

// TestACallThatGrewTheMemoryLeavesNothingBehind checks that neither the content nor the
// larger size of the memory remains.
func TestACallThatGrewTheMemoryLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	m := w.Plugin()
	const page = 64 << 10
	// The plugin denies unless it finds one page, and zeros after it.
	m.Admit(
		w.I32Const(1), w.MemoryGrow, w.I32Const(1), w.I32Ne,
		w.I32Const(page), w.I32Load(0), w.Code{0x72}, // or
		w.I32Const(page), w.I32Const(7), w.I32Store(0),
	)
	p, _ := load(t, m.Bytes())
	first, fuel := oneInstance(t, p), int64(0)
	for n := range 2 * rebuildsPerSecond {
		got, err := p.Admit(t.Context(), question(abitest.Pod()))
		if err != nil || got.Answer != api.Allow {
			t.Fatalf("call %d: %+v, %v", n, got, err)
		}
		if n > 0 && got.Fuel != fuel {
			t.Errorf("call %d took %d units, the first %d", n, got.Fuel, fuel)
		}
		fuel = got.Fuel
		if n%3 == 0 {
			p.Reset(t.Context())
		}
	}
	if oneInstance(t, p) != first {
		t.Error("its instance was thrown away, though putting it back is enough")
	}
	p.Trim()
	p.Trim() // releases its pages
	if got := admit(t, p); got.Answer != api.Allow {
		t.Errorf("after it rested: %+v", got)
	}
}

func TestAnInstanceIsKeptThatGrewUntilItsFuelWasOver(t *testing.T) {
	t.Parallel()
	m := w.Plugin()
	m.Admit(w.I32Const(1), w.MemoryGrow, w.Drop, w.Loop(w.Br(0)), w.I32Const(0))
	p, _ := load(t, m.Bytes())
	first := oneInstance(t, p)
	if got := admitFailure(t, p); got.Code != abi.FuelExhausted {
		t.Fatal(got)
	}
	if oneInstance(t, p) != first {
		t.Error("it was thrown away")
	}
}

// TestAnInstanceWhoseCallsGrowIsTrusted uses pages that are mapped from the second call on,
// so these calls cost no more than others.
func TestAnInstanceWhoseCallsGrowIsTrusted(t *testing.T) {
	t.Parallel()
	m := w.Plugin()
	m.Admit(
		w.I32Const(2), w.MemoryGrow, w.Drop,
		w.Loop(
			w.LocalGet(0), w.I32Const(1), w.I32Store(64<<10), w.LocalGet(0), w.I32Const(4096), w.I32Add, w.LocalSet(0),
			w.LocalGet(0), w.I32Const(128<<10), w.I32LtU, w.BrIf(0)),
		w.I32Const(0),
	)
	p, _ := load(t, m.Bytes())
	i := oneInstance(t, p)
	for n := range calmCalls + 2 {
		if got := admit(t, p); got.Answer != api.Allow {
			t.Fatalf("it answers %+v", got)
		}
		if trusted := n >= calmCalls; i.trusted() != trusted {
			t.Errorf("call %d had slices up to %d", n, i.budget.most)
		}
		p.Reset(t.Context())
	}
	if p.storms.Load() != 0 {
		t.Error("it counts as a storm")
	}
}

// TestAStormInACallThatThenGrowsCounts checks that a plugin cannot hide a storm of page
// faults by growing its memory afterwards.
func TestAStormInACallThatThenGrowsCounts(t *testing.T) {
	t.Parallel()
	m := w.Plugin()
	m.Export("_initialize", m.Func(nil, nil, nil, w.I32Const(31), w.MemoryGrow, w.Drop))
	m.Admit(w.I32Const(0))
	m.Filter(
		w.Loop(
			w.LocalGet(0), w.I32Const(1), w.I32Store(0), w.LocalGet(0), w.I32Const(4096), w.I32Add, w.LocalSet(0),
			w.LocalGet(0), w.I32Const(1<<20), w.I32LtU, w.BrIf(0)),
		w.I32Const(4), w.MemoryGrow, w.Drop, w.I32Const(0),
	)
	p, _ := load(t, m.Bytes(), func(o *Options) { o.Hooks, o.MemoryPages = []string{"admit", "filter"}, 64 })
	calls(t, p, calmCalls+1, 0, 0)
	assertTrusted(t, p, true, "after calm calls")
	if _, err := p.Filter(t.Context(), question(abitest.Pod())); err != nil {
		t.Fatal(err)
	}
	p.Reset(t.Context())
	if n := p.storms.Load(); n != 1 {
		t.Errorf("%d storms", n)
	}
	assertTrusted(t, p, false, "after a storm")
}

package wasm

import (
	"testing"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

// spacious returns a plugin with 2 MiB of memory that allows.
func spacious(t *testing.T) *Plugin {
	t.Helper()
	m := w.Plugin()
	m.Export("_initialize", m.Func(nil, nil, nil, w.I32Const(31), w.MemoryGrow, w.Drop))
	m.Admit(w.I32Const(0))
	p, _ := load(t, m.Bytes(), func(o *Options) { o.MemoryPages = 32 })
	return p
}

// calls makes n calls in which the plugin's instance writes to a range of its memory.
func calls(t *testing.T, p *Plugin, n, from, bytes int) {
	t.Helper()
	for range n {
		i, err := p.take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for at := from; at < from+bytes; at += 4096 {
			if !i.memory.WriteByte(uint32(at), 1) {
				t.Errorf("the memory ends before %d", at)
			}
		}
		p.give(i, true)
		p.Reset(t.Context())
	}
}

func assertTrusted(t *testing.T, p *Plugin, want bool, when string) {
	t.Helper()
	if i := p.pool.clean[0]; i.trusted() != want {
		t.Errorf("%s: trusted %t, slices of %d up to %d", when, i.trusted(), i.budget.slice, i.budget.most)
	}
}

func TestAnInstanceIsTrustedAfterCalmCalls(t *testing.T) {
	t.Parallel()
	p := spacious(t)
	assertTrusted(t, p, false, "at its start")
	calls(t, p, calmCalls, 64<<10, stormBytes)
	assertTrusted(t, p, false, "after calls that were calm")
	calls(t, p, 1, 64<<10, stormBytes)
	assertTrusted(t, p, true, "after enough of them")
	if got := admit(t, p); got.Answer != api.Allow {
		t.Errorf("it answers %+v", got)
	}
}

// TestATenantsPluginNeverGetsLongSlices covers an attack: a tenant's plugin could behave
// until it is trusted, then write to all of its memory, and then start over as a module with
// other bytes.
func TestATenantsPluginNeverGetsLongSlices(t *testing.T) {
	t.Parallel()
	m := w.Plugin()
	m.Admit(w.I32Const(0))
	p, _ := load(t, m.Bytes(), func(o *Options) { o.Tenant = "red" })
	calls(t, p, 2*calmCalls, 0, 0)
	assertTrusted(t, p, true, "after calm calls")
	for range 100 {
		admit(t, p)
		p.Reset(t.Context())
	}
	if i := p.pool.clean[0]; i.budget.slice > tenantSlice || i.budget.most > tenantSlice {
		t.Errorf("it has slices of %d up to %d", i.budget.slice, i.budget.most)
	}
}

func TestAStormCostsThePluginItsTrust(t *testing.T) {
	t.Parallel()
	p := spacious(t)
	calls(t, p, calmCalls+1, 0, 0)
	assertTrusted(t, p, true, "after calm calls")
	calls(t, p, 1, 64<<10, stormBytes+64<<10)
	assertTrusted(t, p, false, "after a storm")
	if i := p.pool.clean[0]; i.budget.slice != leastSlice {
		t.Errorf("a slice of %d after a storm", i.budget.slice)
	}
	calls(t, p, calmCalls*stormFactor, 0, 0)
	assertTrusted(t, p, false, "after calm calls")
	calls(t, p, 1, 0, 0)
	assertTrusted(t, p, true, "after many times as many")
}

func TestWhatAnInstanceWritesBeforeItIsTrustedIsNoStorm(t *testing.T) {
	t.Parallel()
	p := spacious(t)
	calls(t, p, 3, 0, 0)
	calls(t, p, 1, 64<<10, 1<<20)
	if p.storms.Load() != 0 {
		t.Error("it counts as a storm")
	}
	calls(t, p, calmCalls, 64<<10, 1<<20)
	assertTrusted(t, p, false, "after calls to pages it had")
	calls(t, p, 1, 64<<10, 1<<20)
	assertTrusted(t, p, true, "after enough of them")
}

func TestAnotherInstancesStormTakesTrustAway(t *testing.T) {
	t.Parallel()
	p := spacious(t)
	calls(t, p, calmCalls+1, 0, 0)
	p.storms.Add(1)
	calls(t, p, 1, 0, 0)
	assertTrusted(t, p, false, "after the plugin's storm")
}

// TestAfterItGrewAnInstanceGetsShortSlices checks a call that grows the memory. Its new pages
// are mapped when they are first written, and the instance is discarded after the call, so
// that it can never earn trust for them.
func TestAfterItGrewAnInstanceGetsShortSlices(t *testing.T) {
	t.Parallel()
	m := w.Plugin()
	m.Admit(
		w.I32Const(1), w.MemoryGrow, w.Drop,
		w.Loop(w.LocalGet(0), w.I32Const(1), w.I32Add, w.LocalSet(0), w.LocalGet(0), w.I32Const(100_000), w.I32Ne, w.BrIf(0)),
		w.I32Const(0),
	)
	p, _ := load(t, m.Bytes(), func(o *Options) { o.MemoryPages = 8 })
	i, err := p.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i.budget.slice, i.budget.most = mostSlice, mostSlice
	p.give(i, true)
	if got := admit(t, p); got.Answer != api.Allow {
		t.Fatalf("it answers %+v", got)
	}
	if i.budget.most != leastSlice || i.budget.slice != leastSlice {
		t.Errorf("it had slices of %d up to %d after it grew", i.budget.slice, i.budget.most)
	}
}

func TestAStormInACallThatEndsTheInstanceCounts(t *testing.T) {
	t.Parallel()
	for name, bytes := range map[string]int{"calm": stormBytes, "a storm": stormBytes + 64<<10} {
		p := spacious(t)
		calls(t, p, calmCalls+1, 0, 0)
		i, err := p.take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for at := 64 << 10; at < 64<<10+bytes; at += 4096 {
			i.memory.WriteByte(uint32(at), 1)
		}
		p.give(i, false)
		if storms := p.storms.Load(); storms != int64(min(max(bytes-stormBytes, 0), 1)) {
			t.Errorf("%s: %d storms", name, storms)
		}
		p.Reset(t.Context())
		assertTrusted(t, p, false, name+", in the next instance")
	}
}

// TestDryRun_isNoStorm checks that an instance has short slices in a dry run, even if it
// is trusted.
func TestDryRun_isNoStorm(t *testing.T) {
	t.Parallel()
	m := w.Plugin()
	m.Export("_initialize", m.Func(nil, nil, nil, w.I32Const(31), w.MemoryGrow, w.Drop))
	m.Admit(w.I32Const(0))
	m.Filter(
		w.Loop(
			w.LocalGet(0), w.I32Const(1), w.I32Store(0),
			w.LocalGet(0), w.I32Const(4096), w.I32Add, w.LocalSet(0),
			w.LocalGet(0), w.I32Const(1<<20), w.I32LtU, w.BrIf(0)),
		w.Unreachable)
	hooks := []string{string(abi.HookAdmit), string(abi.HookFilter)}
	p, _ := load(t, m.Bytes(), func(o *Options) { o.Hooks, o.MemoryPages = hooks, 32 })
	p.Warm(t.Context(), hooks)
	if n := p.storms.Load(); n != 0 {
		t.Errorf("%d storms before anybody asked", n)
	}
}

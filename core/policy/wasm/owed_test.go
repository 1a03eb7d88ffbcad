package wasm

import (
	"testing"

	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
	"github.com/wardlet/wardlet/core/policy/wasm/memory"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

// storing returns a plugin with a memory of this size that stores once in each page of the
// memory, and then runs the code after.
func storing(bytes int32, after ...w.Code) []byte {
	m := w.Plugin()
	m.Export("_initialize", m.Func(nil, nil, nil, w.I32Const(bytes/pageSize-1), w.MemoryGrow, w.Drop))
	m.Admit(
		w.Loop(
			w.LocalGet(0), w.I32Const(1), w.I32Store(0), w.LocalGet(0), w.I32Const(hostPage), w.I32Add, w.LocalSet(0),
			w.LocalGet(0), w.I32Const(bytes), w.I32LtU, w.BrIf(0)),
		w.Join(after...),
	)
	return m.Bytes()
}

// loadOf loads an owner's plugin that may use 256 pages of memory.
func loadOf(t *testing.T, owner string, module []byte) *Plugin {
	t.Helper()
	p, _ := load(t, module, func(o *Options) { o.Fuel, o.MemoryPages, o.Tenant = 10_000_000, 256, owner })
	if i := p.pool.clean[0]; i.linear.Method() != memory.Scan {
		t.Fatalf("memories are put back by %s here", i.linear.Method())
	}
	return p
}

// beside returns what a call about a tenant's pod costs beside its fuel and beside its
// yields.
func beside(t *testing.T, p *Plugin, tenant string) int64 {
	t.Helper()
	i := append(p.pool.clean, p.pool.used...)[0]
	q := question(abitest.Pod())
	q.Tenant = tenant
	result, _ := p.Admit(t.Context(), q)
	return result.Extra - i.budget.extra()
}

// assertCosts checks that a call costs what restoring this many pages costs, within a tenth:
// the kernel may map a few more.
func assertCosts(t *testing.T, what string, got, pages, price int64) {
	t.Helper()
	if want := pages * price; got < want-want/10 || got > want+want/10 {
		t.Errorf("%s: it costs %d beside its fuel, want about %d", what, got, want)
	}
}

func TestATenantsPagesArePaidForWithItsNextCall(t *testing.T) {
	t.Parallel()
	const pages, calm = 2 << 20 / hostPage, stormBytes / hostPage
	p := loadOf(t, "red", storing(2<<20, w.I32Const(0)))
	assertCosts(t, "the first call", beside(t, p, "red"), 0, 1)
	p.Reset(t.Context())
	assertCosts(t, "the second, for pages that had to be given", beside(t, p, "red"), pages-calm, freshFuel+copiedFuel)
	p.Reset(t.Context())
	assertCosts(t, "the third, for pages that were there", beside(t, p, "red"), pages-calm, copiedFuel)
	if n := len(p.pool.owed); n != 0 {
		t.Errorf("%d tenants owe something that is paid", n)
	}
}

func TestPagesThatAreDroppedEachTimeArePaidForEachTime(t *testing.T) {
	t.Parallel()
	const pages, calm = 8 << 20 / hostPage, stormBytes / hostPage
	p := loadOf(t, "red", storing(8<<20, w.I32Const(0)))
	beside(t, p, "red")
	for range 3 {
		// The next call finds the instance used, and restores it.
		assertCosts(t, "a call", beside(t, p, "red"), pages-calm, freshFuel)
	}
}

func TestNobodyElsePaysForATenantsPages(t *testing.T) {
	t.Parallel()
	const pages, calm = 2 << 20 / hostPage, stormBytes / hostPage
	p := loadOf(t, "", storing(2<<20, w.I32Const(0)))
	beside(t, p, "red")
	p.Reset(t.Context())
	for range 3 {
		// The instance keeps these pages; copying them back is charged to red.
		assertCosts(t, "a call about another's pod", beside(t, p, "blue"), 0, 1)
		p.Reset(t.Context())
	}
	assertCosts(t, "the next about its own", beside(t, p, "red"), pages-calm, freshFuel)
}

func TestDryRun_owesNothingAndPaysNothing(t *testing.T) {
	t.Parallel()
	p := loadOf(t, "red", storing(2<<20, w.I32Const(0)))
	q := question(abitest.Pod())
	q.Tenant = "red"
	for range 2 {
		if _, err := p.Admit(DryRun(t.Context()), q); err != nil {
			t.Fatal(err)
		}
		p.Reset(t.Context())
	}
	if n := len(p.pool.owed); n != 0 {
		t.Errorf("after dry runs %d tenants owe something", n)
	}
	beside(t, p, "red")
	p.Reset(t.Context())
	owed := p.pool.owed["red"]
	if _, err := p.Admit(DryRun(t.Context()), q); err != nil {
		t.Fatal(err)
	}
	if owed == 0 || p.pool.owed["red"] != owed {
		t.Errorf("it owed %d, after a dry run %d", owed, p.pool.owed["red"])
	}
}

func TestCalmCallsOweNothing(t *testing.T) {
	t.Parallel()
	p := loadOf(t, "red", storing(stormBytes, w.I32Const(0)))
	for range 3 {
		assertCosts(t, "a call", beside(t, p, "red"), 0, 1)
		p.Reset(t.Context())
	}
}

// TestPagesOfAnInstanceThatIsThrownAwayArePaidForToo checks that a call cannot avoid the
// charge for its pages with a trap.
func TestPagesOfAnInstanceThatIsThrownAwayArePaidForToo(t *testing.T) {
	t.Parallel()
	const pages, calm = 8 << 20 / hostPage, stormBytes / hostPage
	p := loadOf(t, "red", storing(8<<20, w.Unreachable))
	p.rebuilding.least.Store(1)
	assertCosts(t, "a call that traps", beside(t, p, "red")-p.rebuilding.fuel(), pages-calm, freshFuel)
}

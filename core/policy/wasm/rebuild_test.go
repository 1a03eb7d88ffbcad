package wasm

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

func TestACallPaysForTheInstanceThatItBreaks(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		module []byte
		pays   bool
	}{
		"one that traps":                        {w.Trapping(), true},
		"one that grows so far that it is lost": {growingByOne(), true},
		"one that takes all its fuel":           {w.Looping(), false},
		"one that answers":                      {w.Answering(0, "", ""), false},
	} {
		p, _ := load(t, test.module, func(o *Options) { o.Fuel = 1000 })
		p.rebuilding.least.Store(int64(10 * time.Millisecond))
		const price = 10_000 * fuelPerMicrosecond
		result, _ := p.Admit(t.Context(), question(abitest.Pod()))
		if pays := result.Extra >= price; pays != test.pays || result.Extra > price*3/2 {
			t.Errorf("%s costs %d beside its fuel", name, result.Extra)
		}
	}
}

// TestPool_laterInstancesArePaidFor loads a module with much data, which is copied for each
// instance.
func TestPool_laterInstancesArePaidFor(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		tenant string
		broken bool // whether a call broke an instance and paid for it
		pays   bool
	}{
		"a tenant's":                   {"team", false, true},
		"a tenant's, one broke before": {"team", true, true},
		"the operator's":               {"", false, false},
	} {
		m := w.Plugin()
		m.Admit(w.I32Const(0))
		m.Replace(5, binary.AppendUvarint([]byte{1, 0}, 64))
		m.Data(1<<16, strings.Repeat("a", 2<<20))
		p, _ := load(t, m.Bytes(), func(o *Options) { o.Tenant, o.MemoryPages = test.tenant, 64 })
		first, err := p.take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if test.broken {
			p.give(first, false)
			if first, err = p.take(t.Context()); err != nil {
				t.Fatal(err)
			}
			if first.made != 0 {
				t.Errorf("%s: what replaces one that was paid for costs %d", name, first.made)
			}
		}
		for n, want := range []bool{test.pays, false} { // the second instance is made by the first call and reused by the second
			result, err := p.Admit(t.Context(), question(abitest.Pod()))
			if pays := result.Extra > 100_000; err != nil || pays != want {
				t.Errorf("%s, call %d: costs %d beside its fuel, want much: %t; %v", name, n, result.Extra, want, err)
			}
		}
		p.give(first, true)
	}
}

func TestMakingAnInstanceCostsTheLeastThatItTook(t *testing.T) {
	t.Parallel()
	p, _ := load(t, w.Answering(0, "", ""))
	if p.rebuilding.least.Load() <= 0 {
		t.Error("the first instance took no time")
	}
	var r rebuilding
	for _, step := range []struct {
		took time.Duration
		fuel int64
	}{
		{0, 200_000},
		{3 * time.Millisecond, 6_000_000},
		{5 * time.Millisecond, 6_000_000},
		{time.Millisecond, 2_000_000},
		{time.Microsecond, 200_000},
	} {
		if step.took > 0 {
			r.took(step.took)
		}
		if got := r.fuel(); got != step.fuel {
			t.Errorf("after %s it costs %d, want %d", step.took, got, step.fuel)
		}
	}
	var slow rebuilding
	slow.took(time.Minute)
	if got := slow.fuel(); got != 40_000_000 {
		t.Errorf("what took a minute costs %d", got)
	}
}

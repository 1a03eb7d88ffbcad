package wasm

import (
	"testing"
	"time"

	w "github.com/wardlet/wardlet/core/policy/wasm/wasmtest"
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
		result, _ := p.Admit(t.Context(), question(testPod()))
		if pays := result.Extra >= price; pays != test.pays || result.Extra > price*3/2 {
			t.Errorf("%s costs %d beside its fuel", name, result.Extra)
		}
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

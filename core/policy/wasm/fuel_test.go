package wasm

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

// turning returns a plugin that runs a loop turns times, with about 10 units of fuel each,
// and allows.
func turning(turns int32) []byte {
	m := w.Plugin()
	m.Admit(
		w.Loop(w.LocalGet(0), w.I32Const(1), w.I32Add, w.LocalSet(0), w.LocalGet(0), w.I32Const(turns), w.I32Ne, w.BrIf(0)),
		w.I32Const(0),
	)
	return m.Bytes()
}

func TestALoopWithoutEndTakesItsFuelAndNothingElse(t *testing.T) {
	t.Parallel()
	p, _ := load(t, w.Looping())
	first, err := p.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.give(first, true)
	for range 3 {
		got := admitFailure(t, p)
		if got.Code != abi.FuelExhausted || !strings.Contains(got.Error(), "more than the 2000000 units of fuel it has: raise fuel of the policy's [limits]") {
			t.Error(got)
		}
		p.Reset(t.Context())
	}
	again, err := p.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer p.give(again, true)
	if again != first {
		t.Error("the instance was thrown away, though putting it back is enough")
	}
}

func TestALoopWithoutEndAtInitRefusesThePlugin(t *testing.T) {
	t.Parallel()
	m := w.Plugin()
	m.Export("_initialize", m.Func(nil, nil, nil, w.Loop(w.Br(0))))
	m.Admit(w.I32Const(0))
	e, _ := testEngine(t)
	_, err := e.Load(t.Context(), m.Bytes(), testOptions())
	if failure, ok := errors.AsType[*abi.Failure](err); !ok || failure.Code != abi.FuelExhausted || !strings.Contains(err.Error(), "_initialize: the call took more than the 500000000 units") {
		t.Errorf("error %v", err)
	}
}

// TestFuelIsCountedToTheUnit checks that the fuel of a call is the sum of its slices: a call
// with exactly enough fuel succeeds, and one with a unit less fails.
func TestFuelIsCountedToTheUnit(t *testing.T) {
	t.Parallel()
	for _, turns := range []int32{1, 1000, 100_000} {
		p, _ := load(t, turning(turns), func(o *Options) { o.Fuel = 1 << 40 })
		result, err := p.Admit(t.Context(), question(abitest.Pod()))
		if err != nil {
			t.Fatal(err)
		}
		if least := 9 * int64(turns); result.Fuel < least || result.Fuel > 2*least+100 {
			t.Errorf("%d turns took %d units", turns, result.Fuel)
		}
		p.fuel = result.Fuel
		exactly, err := p.Admit(t.Context(), question(abitest.Pod()))
		if err != nil || exactly.Answer != api.Allow || exactly.Fuel != result.Fuel {
			t.Errorf("%d turns with %d units: %+v, %v", turns, result.Fuel, exactly, err)
		}
		p.fuel--
		if got := admitFailure(t, p); got.Code != abi.FuelExhausted {
			t.Errorf("%d turns with a unit less: %v", turns, got)
		}
	}
}

func TestTheSliceDoesNotChangeWhatACallTakes(t *testing.T) {
	t.Parallel()
	p, _ := load(t, turning(10_000))
	var took []int64
	for _, slice := range []int64{1, 7, leastSlice, mostSlice, 1 << 40} {
		i, err := p.take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		i.budget.slice, i.budget.most = slice, max(slice, mostSlice)
		p.give(i, true)
		result, err := p.Admit(t.Context(), question(abitest.Pod()))
		if err != nil {
			t.Fatal(err)
		}
		took = append(took, result.Fuel)
	}
	for _, fuel := range took {
		if fuel != took[0] {
			t.Fatalf("calls took %v", took)
		}
	}
}

// TestWhatComingBackToTheHostCostsIsToldBesideTheFuel checks the cost of yielding. An
// instance that is not trusted yields every 50 units; this costs more than the units, but no
// fuel.
func TestWhatComingBackToTheHostCostsIsToldBesideTheFuel(t *testing.T) {
	t.Parallel()
	const turns = 10_000
	for name, test := range map[string]struct {
		owner              string
		slice, most, least int64
	}{
		"in an instance that is not trusted": {owner: "red", slice: leastSlice, least: 9 * turns / (leastSlice + 10) * yieldFuel, most: 20 * turns / leastSlice * yieldFuel},
		"where one slice is enough":          {owner: "red", slice: 1 << 40, least: 0, most: 2 * yieldFuel},
		// Another tenant's pod may be the reason that it is not trusted.
		"in an instance of the operator's that is not trusted": {slice: leastSlice},
	} {
		for ending, fuel := range map[string]int64{"answers": 1 << 30, "has not enough fuel": 9*turns - 1} {
			p, _ := load(t, turning(turns), func(o *Options) { o.Fuel, o.Tenant = fuel, test.owner })
			i, err := p.take(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			i.budget.slice, i.budget.most = test.slice, test.slice
			p.give(i, true)
			p.pool.clean, p.pool.used = p.pool.used, nil // so that it is used without being restored
			result, err := p.Admit(t.Context(), question(abitest.Pod()))
			if (err == nil) != (ending == "answers") {
				t.Errorf("%s, a call that %s: %v", name, ending, err)
			}
			if result.Extra < test.least || result.Extra > test.most {
				t.Errorf("%s, a call that %s cost %d beside its fuel, want %d to %d", name, ending, result.Extra, test.least, test.most)
			}
		}
	}
}

func TestAPluginThatGivesNoAnswerTookItsFuel(t *testing.T) {
	t.Parallel()
	for name, module := range map[string][]byte{"its answer means nothing": w.Answering(99, "", ""), "it says that it failed": w.Answering(-1, "", "")} {
		p, _ := load(t, module)
		if got := admitFailure(t, p); got.Fuel <= 0 {
			t.Errorf("%s: it took %d units", name, got.Fuel)
		}
	}
}

func TestTheEndOfTheContextEndsACall(t *testing.T) {
	t.Parallel()
	p, _ := load(t, w.Looping(), func(o *Options) { o.Fuel = 1 << 62 })
	why := errors.New("the agent ends")
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error)
	go func() {
		_, err := p.Admit(ctx, question(abitest.Pod()))
		ended <- err
	}()
	cancel(why)
	if err := <-ended; !errors.Is(err, why) {
		t.Errorf("error %v", err)
	}
	p.fuel = 1000
	if got := admitFailure(t, p); got.Code != abi.FuelExhausted {
		t.Errorf("the next call: %v", got)
	}
}

func TestTheHostsWorkTakesFuel(t *testing.T) {
	t.Parallel()
	took := func(imports []w.Import, body func(m *w.Module) w.Code) int64 {
		m := w.Plugin(imports...)
		m.Memory(1)
		m.Replace(5, []byte{1, 0, 2}) // two pages
		m.Admit(body(m), w.I32Const(0))
		p, _ := load(t, m.Bytes(), func(o *Options) { o.OutputBytes = 1 << 20 })
		result, err := p.Admit(t.Context(), question(abitest.Pod("a")))
		if err != nil {
			t.Fatal(err)
		}
		return result.Fuel
	}
	explaining := func(length int32) int64 {
		return took([]w.Import{w.Explain}, func(m *w.Module) w.Code {
			return w.Join(w.I32Const(0), w.I32Const(length), w.Call(m.Imported("explain")))
		})
	}
	if got, want := explaining(40_000)-explaining(0), int64(40_000*textFuel); got != want {
		t.Errorf("40 000 bytes of text took %d units, want %d", got, want)
	}
	random := func(length int32) int64 {
		return took([]w.Import{w.WASI("random_get", w.I32, w.I32)}, func(m *w.Module) w.Code {
			return w.Join(w.I32Const(0), w.I32Const(length), w.Call(m.Imported("random_get")), w.Drop)
		})
	}
	if got, want := random(8000)-random(4000), int64(4000/abi.HostFuelBytes); got != want {
		t.Errorf("4000 random bytes took %d units, want %d", got, want)
	}
	document := func(times int) int64 {
		return took([]w.Import{w.JSON}, func(m *w.Module) w.Code {
			var body w.Code
			for range times {
				body = w.Join(body, w.I32Const(1), w.I32Const(0), w.I32Const(0), w.Call(m.Imported("json")), w.Drop)
			}
			return body
		})
	}
	once, twice, thrice := document(1), document(2), document(3)
	if again := thrice - twice; twice-once != again || once < 10*again {
		t.Errorf("a document took %d units the first time, %d and %d then: only the first time is it encoded", once, twice-once, again)
	}
}

package wasm

import (
	"errors"
	"testing"

	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

// beginning returns a plugin that runs a loop when it starts.
func beginning(turns int32) []byte {
	m := w.Plugin()
	m.Export("_initialize", m.Func(nil, nil, []w.Type{w.I32}, w.Loop(
		w.LocalGet(0), w.I32Const(1), w.I32Add, w.LocalSet(0),
		w.LocalGet(0), w.I32Const(turns), w.I32LtU, w.BrIf(0))))
	m.Admit(w.I32Const(0))
	return m.Bytes()
}

func TestAPluginSaysWhatItsLoadingTook(t *testing.T) {
	t.Parallel()
	little, _ := load(t, beginning(1))
	much, _ := load(t, beginning(10_000))
	again, _ := load(t, beginning(10_000))
	if took := much.LoadFuel() - little.LoadFuel(); took < 10_000 || took > 1_000_000 {
		t.Errorf("10 000 turns took %d", took)
	}
	if much.LoadFuel() != again.LoadFuel() {
		t.Errorf("the same took %d and %d", much.LoadFuel(), again.LoadFuel())
	}
	before := much.LoadFuel()
	admit(t, much)
	if much.LoadFuel() != before {
		t.Error("a call counts for it")
	}
}

func TestAFailedLoadSaysWhatItTook(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		module      []byte
		least, most int64
	}{
		"it loops at its start":       {w.LoopingAtInit(), initFuel, initFuel},
		"it traps at its start":       {w.TrapAtInit(), 1, 1000},
		"it refuses its settings":     {w.RefusingSettings("no"), 1, 1000},
		"it asks for what no one has": {w.UnknownImport(), 0, 0},
	} {
		e, _ := testEngine(t)
		_, err := e.Load(t.Context(), tc.module, testOptions())
		failure, ok := errors.AsType[*abi.Failure](err)
		if !ok || failure.Fuel < tc.least || failure.Fuel > tc.most {
			t.Errorf("%s: %+v, want fuel from %d to %d", name, failure, tc.least, tc.most)
		}
	}
}

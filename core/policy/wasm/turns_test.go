package wasm

import (
	"errors"
	"testing"

	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

func TestACallAsksBetweenSlicesWhetherItIsAnothersTurn(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		module []byte
		asks   bool
	}{
		"one that runs and runs asks":    {w.Looping(), true},
		"one that is over soon does not": {w.Answering(0, "", ""), false},
	} {
		p, _ := load(t, test.module)
		_, alone := p.Admit(t.Context(), question(abitest.Pod()))
		var asked []int64
		turns := WithTurns(t.Context(), func(fuel int64) { asked = append(asked, fuel) })
		result, err := p.Admit(turns, question(abitest.Pod()))
		if test.asks != (len(asked) > 0) {
			t.Errorf("%s: it asked %d times", name, len(asked))
		}
		sum := int64(0)
		for _, fuel := range asked {
			if sum += fuel; fuel <= 0 || sum > p.fuel+result.Extra {
				t.Errorf("%s: it says it took %d more, %d in all, of %d with %d beside that", name, fuel, sum, p.fuel, result.Extra)
			}
		}
		if (alone == nil) != (err == nil) || alone != nil && alone.Error() != err.Error() {
			t.Errorf("%s: it ends with %v, without pauses with %v", name, err, alone)
		}
		n := len(asked)
		if _, _ = p.Admit(t.Context(), question(abitest.Pod())); len(asked) != n {
			t.Errorf("%s: a later call asks whom an earlier one was to ask", name)
		}
		if failure, ok := errors.AsType[*abi.Failure](err); ok && failure.Code != abi.FuelExhausted {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWorkOfTheHostAsksWhomTheContextSays(t *testing.T) {
	t.Parallel()
	asked := int64(0)
	turns := WithTurns(t.Context(), func(fuel int64) { asked += fuel })
	TakeTurn(turns, 5)
	TakeTurn(WithTurns(turns, nil), 7)
	TakeTurn(t.Context(), 11)
	if asked != 5 {
		t.Errorf("it says it took %d", asked)
	}
}

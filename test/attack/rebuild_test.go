package attack

import (
	"errors"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// TestWhoTrapsInEveryCallGetsTenInstancesASecond checks the limit on new instances, because making
// an instance costs the agent far more than a trap costs the plugin.
func TestWhoTrapsInEveryCallGetsTenInstancesASecond(t *testing.T) {
	const perSecond, calls = 10, 200
	e, _ := engine(t, patient)
	m := named(t, "trap-unreachable")
	p := load(t, e, m, m.Name)
	defer closed(t, p)
	begin := time.Now()
	traps, refusals := 0, 0
	for range calls {
		_, err := p.Admit(t.Context(), Request(defaultImage))
		p.Reset(t.Context())
		failure, ok := errors.AsType[*abi.Failure](err)
		switch {
		case errors.Is(err, wasm.ErrNotReady):
			refusals++
		case ok && failure.Code == abi.Trap:
			traps++
		default:
			t.Fatalf("asked it ends with %v", err)
		}
	}
	if most := perSecond * (2 + int(time.Since(begin)/time.Second)); traps > most || refusals == 0 {
		t.Errorf("%d traps and %d calls without an instance in %v: at most %d traps", traps, refusals, time.Since(begin), most)
	}
}

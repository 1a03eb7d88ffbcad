package bare

import (
	"runtime"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/wardlet/wardlet/core/policy/wasm/meter"
)

// tank is the fuel of a guest that is metered. It does for it what the agent
// does, with the same numbers; where a module is not metered it is nil and does
// nothing.
type tank struct {
	fuel, stack api.MutableGlobal
	// left is what of the call's fuel is not in the guest's global.
	left int64
	// begun is when the last slice began, turn when the guest's turn did.
	begun, turn time.Time
}

const (
	// slice is what the guest gets at once, if slices take as long as they should.
	slice = 100_000
	// turn is how long it runs on before others come first.
	turn = time.Millisecond
	// perCall is what a call may take.
	perCall = 10_000_000
	// hostCall is what a call of the host takes, hostBytes how many bytes are
	// handed over for a unit.
	hostCall  = 100
	hostBytes = 4
)

func tankOf(m api.Module) *tank {
	fuel, metered := m.ExportedGlobal(meter.Fuel).(api.MutableGlobal)
	stack, _ := m.ExportedGlobal(meter.Stack).(api.MutableGlobal)
	if !metered || stack == nil {
		return nil
	}
	return &tank{fuel: fuel, stack: stack}
}

// fill begins a call.
func (t *tank) fill(fuel int64) {
	if t == nil {
		return
	}
	t.left = fuel
	t.begun, t.turn = time.Time{}, time.Time{}
	t.refill(0)
}

func (t *tank) refill(has int64) {
	more := min(t.left, slice-has)
	t.left -= more
	t.fuel.Set(uint64(has + more))
}

// yield is where the guest asks for more.
func (t *tank) yield() {
	has := int64(t.fuel.Get())
	if int64(t.stack.Get()) < 0 || has+t.left < 0 {
		stop("a guest of the bench has %d units of fuel and %d bytes of stack left", has+t.left, int64(t.stack.Get()))
	}
	// Each slice is timed, and each turn lets others go first.
	now := time.Now()
	if now.Sub(t.turn) >= turn {
		if !t.turn.IsZero() {
			runtime.Gosched()
			now = time.Now()
		}
		t.turn = now
	}
	t.begun = now
	t.refill(has)
}

// charge takes what handing over bytes costs.
func (t *tank) charge(bytes int) {
	if t == nil {
		return
	}
	has := int64(t.fuel.Get()) - hostCall - int64(bytes)/hostBytes
	t.fuel.Set(uint64(has))
	if has < 0 {
		t.yield()
	}
}

package bare

import (
	"runtime"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/wardlet/wardlet/core/policy/wasm/meter"
)

// tank is the fuel of a metered guest. It does the same for the guest as the agent does, with the
// same numbers. For a module that is not metered, it is nil and does nothing.
type tank struct {
	fuel, stack api.MutableGlobal
	// left is the part of the call's fuel that is not in the guest's global.
	left int64
	// begun is when the last slice began, turn is when the guest's turn began.
	begun, turn time.Time
}

const (
	// slice is the fuel that the guest gets at once, if slices take as long as they should.
	slice = 100_000
	// turn is how long the guest runs before it yields to others.
	turn = time.Millisecond
	// perCall is the fuel that a call may use.
	perCall = 10_000_000
	// hostCall is the price of a call of the host, and hostBytes is how many bytes that are handed
	// over cost one unit.
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

// fill sets the fuel at the beginning of a call.
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

// yield is called when the guest needs more fuel.
func (t *tank) yield() {
	has := int64(t.fuel.Get())
	if int64(t.stack.Get()) < 0 || has+t.left < 0 {
		stop("a guest of the bench has %d units of fuel and %d bytes of stack left", has+t.left, int64(t.stack.Get()))
	}
	// Each slice is timed, and after each turn the guest yields to others.
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

// charge deducts the price of handing over bytes.
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

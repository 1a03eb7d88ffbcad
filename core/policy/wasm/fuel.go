package wasm

import (
	"context"
	"runtime"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/wardlet/wardlet/core/policy/wasm/memory"
	"github.com/wardlet/wardlet/core/policy/wasm/meter"
)

const (
	// mostSlice is the most fuel that a guest gets at once: about 50 µs of compiled
	// code at 0.5 ns a unit, which is the time of slow instructions. leastSlice is
	// the most in an instance that is not trusted.
	mostSlice  = 100_000
	leastSlice = 50
	// A slice that took longer than longSlice makes the next ones shorter. A slice
	// that took less than shortSlice makes them longer.
	longSlice  = 50 * time.Microsecond
	shortSlice = 25 * time.Microsecond
	// turn is how long a guest runs before the host yields the processor to other
	// goroutines. The garbage collector needs only that the guest returns to the
	// host. To yield wakes another thread each time, and may move the guest to a
	// processor with cold caches.
	turn = time.Millisecond
	// initFuel is the fuel of each function that initialises a guest: some 0.2 s.
	initFuel = 500_000_000

	// yieldFuel is the cost of one return of the guest to the host: some 150 ns on
	// a server, at 0.5 ns a unit.
	yieldFuel = 300

	// hostFuel is the fuel of a call of a host function. hostFuelBytes is how many
	// bytes are handed over for one unit. jsonFuel is the fuel of each byte that
	// the host encodes as JSON for the call.
	hostFuel      = 100
	hostFuelBytes = 4
	jsonFuel      = 16
	// valueFuel is the fuel of each value that is written for the guest. entryFuel
	// is the fuel of each entry of a map, because entries are sorted.
	valueFuel = 10
	entryFuel = 100
	// pieceFuel is the fuel of each piece that is written to a descriptor, in
	// addition to its bytes.
	pieceFuel = 50
	// textFuel is the fuel of each byte of a text that is made safe to show.
	// lineFuel is that of each line that is written to a descriptor, waitFuel of
	// each subscription of poll_oneoff, and pathFuel of each path that is declared.
	textFuel = 16
	lineFuel = 500
	waitFuel = 50
	pathFuel = 20_000
	// textExtra is what each byte of such a text that is not plain ASCII costs in
	// addition to its fuel: it is escaped, replaced, or checked.
	textExtra = 16
	// pathExtra is what each byte of a setting's path costs in addition to its
	// fuel. stepExtra is what each of its steps costs, because it is looked up in a
	// table.
	pathExtra = 1
	stepExtra = 40
)

// tank holds the fuel of an instance. One slice of it is in a global of the guest;
// code that package meter added asks the host for more.
type tank struct {
	fuel, stack api.MutableGlobal
	// slice is how much fuel the guest gets at once. It is at most the field most,
	// and depends on how long the last slices took. The fuel that a call uses does
	// not depend on it. begun is when the last slice began.
	slice, most int64
	begun       time.Time
	// cut reports whether slices were long until the memory grew.
	cut bool
	// turn is when the guest's turn began, which is with its second slice.
	turn time.Time
	// full is the fuel of the call. left is the part of it that is not in the
	// guest's global.
	full, left int64
	// yields is how often the guest returned to the host in this call. billed
	// reports whether the call is charged for that.
	yields int64
	billed bool
	// beside is the cost of the host's work in this call that its fuel does not
	// include, in units of fuel. It is the same for the same call.
	beside int64
	linear *memory.Linear
	stay   stay
	// asked is when the call last asked whether it must pause, see WithTurns. told
	// is how much the call had cost until then, in units of fuel.
	asked time.Time
	told  int64
	// ctx stops a call at the end of a slice.
	ctx context.Context // of the one call under way
}

// fill prepares the tank for a call.
func (t *tank) fill(ctx context.Context, fuel int64) {
	t.ctx, t.full, t.left, t.yields, t.beside = ctx, fuel, fuel, 0, 0
	t.begun, t.turn, t.asked, t.told = time.Time{}, time.Time{}, time.Time{}, 0
	t.slice = min(t.most, t.slice+t.slice/2) // so that a short call fits into one slice
	t.refill(0)
}

// refill raises the guest's fuel to one slice. has is the fuel that the guest still
// has.
func (t *tank) refill(has int64) {
	more := min(t.left, t.slice-has)
	t.left -= more
	t.fuel.Set(uint64(has + more))
}

// used returns the fuel that the call used so far.
func (t *tank) used() int64 { return t.full - t.left - int64(t.fuel.Get()) }

// extra returns what the call cost so far in addition to its fuel. It is not part
// of the fuel, because the number of slices varies. A plugin of the operator is not
// billed for its slices: it is asked about all tenants' pods, and if the pods of
// one tenant make the slices short, another tenant must not pay for that.
func (t *tank) extra() int64 {
	if !t.billed {
		return t.beside
	}
	return t.beside + t.yields*yieldFuel
}

// yield is called when a guest has used up its slice, between the pieces of long
// ranges, and when the host charges more than is left of the slice. It refills the
// slice, and stops the call if no fuel is left or ctx is done.
func (t *tank) yield() {
	t.yields++
	has := int64(t.fuel.Get())
	switch {
	case int64(t.stack.Get()) < 0:
		stop(failf(StackLimit, "calls are nested too deeply, or their frames are too large: together they may take %d KiB, and each takes at least 1",
			meter.StackBudget>>10))
	case has+t.left < 0:
		stop(t.exhausted())
	case t.ctx.Err() != nil:
		stop(context.Cause(t.ctx))
	}
	now := time.Now()
	t.pace(now)
	if t.linear.Unknown() {
		t.cut = t.cut || t.most > leastSlice
		t.slice, t.most = leastSlice, leastSlice
	}
	now = t.ask(now)
	if t.ctx.Err() != nil { // it may have ended during ask
		stop(context.Cause(t.ctx))
	}
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

// pace makes the next slice longer or shorter, depending on how long the last one
// took.
func (t *tank) pace(now time.Time) {
	if t.begun.IsZero() {
		return
	}
	switch took := now.Sub(t.begun); {
	case took > longSlice:
		t.slice = max(leastSlice, t.slice*int64(longSlice)/int64(2*took))
	case took < shortSlice:
		t.slice = min(t.most, t.slice+t.slice/2)
	}
}

func (t *tank) exhausted() *Failure {
	return failf(FuelExhausted, "the call took more than the %d units of fuel it has: raise fuel of the policy's [limits]", t.full)
}

// charge takes fuel for work that the host does for a guest.
func (t *tank) charge(fuel int64) {
	has := int64(t.fuel.Get()) - fuel
	t.fuel.Set(uint64(has))
	if has < 0 {
		t.yield()
	}
}

// bytes charges for n bytes that are handed over, and for encoded bytes that were
// encoded as JSON.
func (t *tank) bytes(n uint32, encoded int) {
	t.charge(int64(n)/hostFuelBytes + int64(encoded)*jsonFuel)
}

// affords returns the fuel that is left, at least 1. Work that needs more is
// stopped when it is charged.
func (t *tank) affords() int64 { return max(t.left+int64(t.fuel.Get()), 1) }

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
	// mostSlice is what a guest gets at once at most: about 50 µs of compiled
	// code at 0.5 ns a unit, which is what slow instructions take. leastSlice is
	// what it gets in an instance that is not trusted.
	mostSlice  = 100_000
	leastSlice = 50
	// A slice that took longer than longSlice makes the next ones shorter, one
	// that took less than shortSlice makes them longer.
	longSlice  = 50 * time.Microsecond
	shortSlice = 25 * time.Microsecond
	// turn is how long a guest runs on before others that wait for a processor
	// come first. That it comes back to the host is enough for the garbage
	// collector; to let others go first wakes another thread each time, which may
	// take the guest away to a processor that knows nothing of it.
	turn = time.Millisecond
	// initFuel is what a guest may take to initialise itself: some 0.2 s.
	initFuel = 500_000_000

	// yieldFuel is what it costs that a guest comes back to the host and goes on: some
	// 150 ns on a server, at 0.5 ns a unit.
	yieldFuel = 300

	// hostFuel is what a call of a host's function takes, hostFuelBytes how many
	// bytes are handed over for a unit, and jsonFuel what a byte takes that the
	// host encodes as JSON for it.
	hostFuel      = 100
	hostFuelBytes = 4
	jsonFuel      = 16
	// valueFuel is what each value takes that is written for the guest, entryFuel
	// each entry of a map, which are sorted.
	valueFuel = 10
	entryFuel = 100
	// pieceFuel is what a piece takes that is written to a descriptor, beside its
	// bytes.
	pieceFuel = 50
	// textFuel is the fuel for each byte of a text that is made safe to show, lineFuel for
	// each line that is written to a descriptor, waitFuel for each subscription of
	// poll_oneoff, and pathFuel for each path that is declared.
	textFuel = 16
	lineFuel = 500
	waitFuel = 50
	pathFuel = 20_000
	// textExtra is what a byte of such a text costs beside its fuel that is not plain
	// ASCII: it is escaped or replaced, or looked at whether it must be.
	textExtra = 16
	// pathExtra is what a byte of a setting's path costs beside its fuel, stepExtra what
	// each of its steps does, which is looked up in a table.
	pathExtra = 1
	stepExtra = 40
)

// tank is the fuel of an instance. A guest has a slice of it in a global of
// its own; package meter has it ask for more.
type tank struct {
	fuel, stack api.MutableGlobal
	// slice is what the guest gets at once, up to most. It depends on how long the
	// last ones took. The sum is the same, however it is cut. begun is when the last
	// began.
	slice, most int64
	begun       time.Time
	// cut says that the slices were long until the memory grew.
	cut bool
	// turn is when the guest's turn began, with its first slice but one.
	turn time.Time
	// full is what the call began with, left what of it is not in the guest's
	// global.
	full, left int64
	// yields counts how often the guest came back in the call under way; billed says
	// that it pays for that.
	yields int64
	billed bool
	// beside is what the host did in the call under way beside what takes fuel, in units
	// of fuel. It is the same for the same call.
	beside int64
	linear *memory.Linear
	stay   stay
	// asked is when the call last asked whether it is another's turn. told is how much
	// it had cost until then, in units of fuel.
	asked time.Time
	told  int64
	// ctx ends a call at the end of a slice.
	ctx context.Context // of the one call under way
}

// fill begins a call.
func (t *tank) fill(ctx context.Context, fuel int64) {
	t.ctx, t.full, t.left, t.yields, t.beside = ctx, fuel, fuel, 0, 0
	t.begun, t.turn, t.asked, t.told = time.Time{}, time.Time{}, time.Time{}, 0
	t.slice = min(t.most, t.slice+t.slice/2) // so that short calls come to fit into one
	t.refill(0)
}

// refill adds to the guest's fuel as much as makes a slice.
func (t *tank) refill(has int64) {
	more := min(t.left, t.slice-has)
	t.left -= more
	t.fuel.Set(uint64(has + more))
}

// used is what the call took so far.
func (t *tank) used() int64 { return t.full - t.left - int64(t.fuel.Get()) }

// extra returns what the call cost beside its fuel so far. It is no part of the fuel,
// as the fuel is cut in another way each time. A plugin of the operator is asked about
// all tenants' pods, so it is not billed for its slices: if the pods of one tenant make
// them short, another tenant must not pay for that.
func (t *tank) extra() int64 {
	if !t.billed {
		return t.beside
	}
	return t.beside + t.yields*yieldFuel
}

// yield is where a guest asks for more fuel, or just lets the host have a
// look. It ends the call where there is no more.
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
	if t.ctx.Err() != nil { // it may have ended meanwhile
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

// pace makes the next slice longer or shorter by how long the last one took.
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

// charge takes what the host does for a guest.
func (t *tank) charge(fuel int64) {
	has := int64(t.fuel.Get()) - fuel
	t.fuel.Set(uint64(has))
	if has < 0 {
		t.yield()
	}
}

// bytes charges for bytes that are handed over, and for those of them that
// were encoded as JSON.
func (t *tank) bytes(n uint32, encoded int) {
	t.charge(int64(n)/hostFuelBytes + int64(encoded)*jsonFuel)
}

// affords is the fuel that is left, at least 1. Who takes more is stopped when
// it is charged.
func (t *tank) affords() int64 { return max(t.left+int64(t.fuel.Get()), 1) }

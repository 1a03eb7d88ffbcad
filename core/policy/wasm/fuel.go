package wasm

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/wardlet/wardlet/core/policy/wasm/abi"
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

	// hostFuel is the fuel of a call of a host function.
	hostFuel = 100
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
	// fuel.
	pathExtra = 1
)

// budget holds the fuel of an instance. One slice of it is in a global of the guest;
// code that package meter added asks the host for more.
type budget struct {
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

// fill prepares the budget for a call.
func (b *budget) fill(ctx context.Context, fuel int64) {
	b.ctx, b.full, b.left, b.yields, b.beside = ctx, fuel, fuel, 0, 0
	b.begun, b.turn, b.asked, b.told = time.Time{}, time.Time{}, time.Time{}, 0
	b.slice = min(b.most, b.slice+b.slice/2) // so that a short call fits into one slice
	b.refill(0)
}

// refill raises the guest's fuel to one slice. has is the fuel that the guest still
// has.
func (b *budget) refill(has int64) {
	more := min(b.left, b.slice-has)
	b.left -= more
	b.fuel.Set(uint64(has + more))
}

// used returns the fuel that the call used so far.
func (b *budget) used() int64 { return b.full - b.left - int64(b.fuel.Get()) }

// extra returns what the call cost so far in addition to its fuel. It is not part
// of the fuel, because the number of slices varies. A plugin of the operator is not
// billed for its slices: it is asked about all tenants' pods, and if the pods of
// one tenant make the slices short, another tenant must not pay for that.
func (b *budget) extra() int64 {
	if !b.billed {
		return b.beside
	}
	return b.beside + b.yields*yieldFuel
}

// yield is called when a guest has used up its slice, between the pieces of long
// ranges, and when the host charges more than is left of the slice. It refills the
// slice, and stops the call if no fuel is left or ctx is done.
func (b *budget) yield() {
	b.yields++
	has := int64(b.fuel.Get())
	switch {
	case int64(b.stack.Get()) < 0:
		abi.Stop(abi.Failf(abi.StackLimit, "calls are nested too deeply, or their frames are too large: together they may take %d KiB, and each takes at least 1",
			meter.StackBudget>>10))
	case has+b.left < 0:
		abi.Stop(b.exhausted())
	case b.ctx.Err() != nil:
		abi.Stop(context.Cause(b.ctx))
	}
	now := time.Now()
	b.pace(now)
	if b.linear.Unknown() {
		b.cut = b.cut || b.most > leastSlice
		b.slice, b.most = leastSlice, leastSlice
	}
	now = b.ask(now)
	if b.ctx.Err() != nil { // it may have ended during ask
		abi.Stop(context.Cause(b.ctx))
	}
	if now.Sub(b.turn) >= turn {
		if !b.turn.IsZero() {
			runtime.Gosched()
			now = time.Now()
		}
		b.turn = now
	}
	b.begun = now
	b.refill(has)
}

// pace makes the next slice longer or shorter, depending on how long the last one
// took.
func (b *budget) pace(now time.Time) {
	if b.begun.IsZero() {
		return
	}
	switch took := now.Sub(b.begun); {
	case took > longSlice:
		b.slice = max(leastSlice, b.slice*int64(longSlice)/int64(2*took))
	case took < shortSlice:
		b.slice = min(b.most, b.slice+b.slice/2)
	}
}

func (b *budget) exhausted() *abi.Failure {
	return abi.Failf(abi.FuelExhausted, "the call took more than the %d units of fuel it has: raise fuel of the policy's [limits]", b.full)
}

// charge takes fuel for work that the host does for a guest.
func (b *budget) charge(fuel int64) {
	has := int64(b.fuel.Get()) - fuel
	b.fuel.Set(uint64(has))
	if has < 0 {
		b.yield()
	}
}

// bytes charges for n bytes that are handed over, and for encoded bytes that were
// encoded as JSON.
func (b *budget) bytes(n uint32, encoded int) {
	b.charge(int64(n)/abi.HostFuelBytes + int64(encoded)*abi.JSONFuel)
}

// affords returns the fuel that is left, at least 1. Work that needs more is
// stopped when it is charged.
func (b *budget) affords() int64 { return max(b.left+int64(b.fuel.Get()), 1) }

type costKey struct{}

// WithCost returns a context with which Engine.Load and Engine.Forget call add with
// the processor time that they use themselves: to verify and meter a module, to
// load its code and to make its first instance. The time does not include the child
// process that compiles the module, nor the fuel of the plugin's initialisation.
func WithCost(ctx context.Context, add func(cpu time.Duration)) context.Context {
	return context.WithValue(ctx, costKey{}, add)
}

// AddCost passes processor time to the function that was set by WithCost, if any.
func AddCost(ctx context.Context, cpu time.Duration) {
	if add, ok := ctx.Value(costKey{}).(func(cpu time.Duration)); ok {
		add(cpu)
	}
}

// startCost starts measuring for WithCost, on this goroutine. stop ends the
// measurement; a second call of stop does nothing. fuel returns the fuel that the
// guest used in between, which is charged separately and so is subtracted; nil for
// none.
func startCost(ctx context.Context, fuel func() int64) (stop func()) {
	if ctx.Value(costKey{}) == nil {
		return func() {}
	}
	// The time is that of the thread, so other goroutines must not run on it.
	runtime.LockOSThread()
	began := threadTime()
	return sync.OnceFunc(func() {
		took := time.Duration(threadTime() - began)
		if fuel != nil {
			took -= time.Duration(fuel()) * time.Microsecond / fuelPerMicrosecond
		}
		AddCost(ctx, max(took, 0))
		runtime.UnlockOSThread()
	})
}

// askPeriod is how often a long call asks whether it must pause for others.
const askPeriod = 50 * time.Microsecond

// TurnFuel is how much fuel the host's own work uses before it asks, too. A guest
// uses about as much in askPeriod.
const TurnFuel = 2 * int64(askPeriod/time.Nanosecond)

type turnsKey struct{}

// WithTurns sets the function that calls with the context ask, between two slices,
// whether others have their turn. pause gets the cost of the call since it was last
// asked: its fuel and its extra. It returns when the call may continue. It may be
// called some ten thousand times a second, by the goroutine of the call, which
// keeps its instance during the pause. A short call never asks. Pauses do not
// change what a call returns nor what it costs.
func WithTurns(ctx context.Context, pause func(fuel int64)) context.Context {
	return context.WithValue(ctx, turnsKey{}, pause)
}

// TakeTurn asks pause (see WithTurns) for work of the host, which used so much fuel
// since it last asked. It returns when the work may continue.
func TakeTurn(ctx context.Context, fuel int64) {
	if pause := pauser(ctx); pause != nil {
		pause(fuel)
	}
}

// pauser returns the function that was set by WithTurns, nil if there is none.
func pauser(ctx context.Context) func(fuel int64) {
	pause, _ := ctx.Value(turnsKey{}).(func(fuel int64))
	return pause
}

// ask asks whether the call must pause, unless it asked less than askPeriod ago,
// and returns the time.
func (b *budget) ask(now time.Time) time.Time {
	if b.asked.IsZero() {
		b.asked = now
	}
	if now.Sub(b.asked) < askPeriod {
		return now
	}
	b.asked = now
	pause := pauser(b.ctx)
	if pause == nil {
		return now
	}
	used := b.used() + b.extra()
	pause(used - b.told)
	b.told = used
	b.asked = time.Now()
	return b.asked
}

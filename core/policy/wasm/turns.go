package wasm

import (
	"context"
	"time"
)

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
func (t *tank) ask(now time.Time) time.Time {
	if t.asked.IsZero() {
		t.asked = now
	}
	if now.Sub(t.asked) < askPeriod {
		return now
	}
	t.asked = now
	pause := pauser(t.ctx)
	if pause == nil {
		return now
	}
	used := t.used() + t.extra()
	pause(used - t.told)
	t.told = used
	t.asked = time.Now()
	return t.asked
}

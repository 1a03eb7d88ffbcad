package wasm

import (
	"context"
	"time"
)

// askPeriod is how often a guest that runs and runs asks whether it is another's
// turn.
const askPeriod = 50 * time.Microsecond

// TurnFuel is how much fuel work of the host uses until it asks, too: about as much
// as a guest does until then.
const TurnFuel = 2 * int64(askPeriod/time.Nanosecond)

type turnsKey struct{}

// WithTurns sets whom calls with the context ask, between two slices,
// whether it is another's turn: pause gets what the call took in fuel since it was
// last asked, with what it cost beside that, and comes back when the call may go on.
// It may be called some ten thousand times a second, by the goroutine of the call,
// which keeps its instance meanwhile. A call that is over soon never asks. What a
// call returns, and what it costs, is the same with pauses and without.
func WithTurns(ctx context.Context, pause func(fuel int64)) context.Context {
	return context.WithValue(ctx, turnsKey{}, pause)
}

// TakeTurn asks whether it is another's turn for work of the host that took so much
// fuel since it last did (see WithTurns), and comes back when it may go on.
func TakeTurn(ctx context.Context, fuel int64) {
	if pause := pauser(ctx); pause != nil {
		pause(fuel)
	}
}

// pauser returns the function that a call asks, nil for none.
func pauser(ctx context.Context) func(fuel int64) {
	pause, _ := ctx.Value(turnsKey{}).(func(fuel int64))
	return pause
}

// ask asks whether it is another's turn, if that was not asked lately, and returns
// the time.
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

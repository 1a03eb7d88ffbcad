package wasm

import (
	"context"
	"runtime"
	"sync"
	"time"
)

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

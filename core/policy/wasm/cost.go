package wasm

import (
	"context"
	"runtime"
	"sync"
	"time"
)

type costKey struct{}

// WithCost returns a context with which Load and Forget of an engine call add
// with the processor time that they take themselves: to verify and meter a module,
// to load its code and to make its first instance. The time that the child takes to
// compile it and the fuel of the plugin's start are not in it.
func WithCost(ctx context.Context, add func(cpu time.Duration)) context.Context {
	return context.WithValue(ctx, costKey{}, add)
}

// AddCost adds processor time to what was spent under WithCost.
func AddCost(ctx context.Context, cpu time.Duration) {
	if add, ok := ctx.Value(costKey{}).(func(cpu time.Duration)); ok {
		add(cpu)
	}
}

// startCost starts to measure for WithCost, on this goroutine. stop ends it; a
// second call does nothing. fuel is what the guest took meanwhile, which is paid as
// such; nil for nothing.
func startCost(ctx context.Context, fuel func() int64) (stop func()) {
	if ctx.Value(costKey{}) == nil {
		return func() {}
	}
	// The time is that of the thread: other goroutines must not run on it.
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

package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/test/attack"
)

// ask asks the third tenant's policy at the rate, and returns the time from when each question was
// due until it was answered.
func (b *bench) ask(ctx context.Context) (latencies []time.Duration) {
	r := attack.Request("registry.example/a:1")
	begun := time.Now()
	for n := 0; ; n++ {
		due := begun.Add(time.Duration(n) * time.Second / rate)
		select {
		case <-time.After(time.Until(due)):
		case <-ctx.Done():
			return latencies
		}
		if _, err := b.third.Admit(ctx, r); err != nil {
			if ctx.Err() == nil {
				b.faults.add(fmt.Errorf("the third tenant's policy: %w", err))
			}
			continue
		}
		latencies = append(latencies, time.Since(due))
		b.third.Reset(ctx)
	}
}

// look inspects the resources of the process, twice, while the attacks pause and after all plugins
// have rested, because the number of instances in use is random. It returns only when ctx ends, so
// that the number of goroutines stays the same.
func (b *bench) look(ctx context.Context, length time.Duration, o *outcome) {
	begun := time.Now()
	for _, l := range []struct {
		after time.Duration
		into  *look
	}{{b.o.first, &o.first}, {b.o.second, &o.second}} {
		if l.after >= length {
			break
		}
		select {
		case <-time.After(time.Until(begun.Add(l.after))):
			b.gate.Lock()
			b.restAll()
			b.restAll() // the first call releases what was in use before
			*l.into = looked(l.after)
			b.gate.Unlock()
			fmt.Printf("  %s\n", l.into)
		case <-ctx.Done():
		}
	}
	<-ctx.Done()
}

// restPeriod is how often plugins rest, as in the agent.
const restPeriod = 10 * time.Second

func (b *bench) rest(ctx context.Context) {
	every := time.NewTicker(restPeriod)
	defer every.Stop()
	for {
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
		b.restAll()
	}
}

func (b *bench) restAll() {
	b.third.Trim()
	for _, p := range b.calm {
		p.Trim()
	}
	for _, all := range b.attacks {
		for _, t := range all {
			t.use((*wasm.Plugin).Trim)
		}
	}
}

// behaviour is the behaviour of tenants: call runs in each of their goroutines, rewrite in one
// more; nil is nothing.
type behaviour struct {
	call    func(ctx context.Context, tenant, number int)
	rewrite func(ctx context.Context, tenant int)
}

// outcome is the result of a phase.
type outcome struct {
	latencies     []time.Duration
	pause         time.Duration
	first, second look
}

// phase runs the behaviour of the tenants for a time, and others beside them.
func (b *bench) phase(ctx context.Context, what string, length time.Duration, do behaviour, others ...func(ctx context.Context)) outcome {
	if ctx.Err() != nil {
		return outcome{}
	}
	fmt.Printf("%s, for %s; %s left in all\n", what, length, b.left)
	b.left -= length
	runtime.GC()
	before := pauses()
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	var all sync.WaitGroup
	for tenant := range hostileTenants {
		for number := range perTenant {
			all.Go(func() { do.call(ctx, tenant, number) })
		}
		if do.rewrite != nil {
			all.Go(func() { do.rewrite(ctx, tenant) })
		}
	}
	for _, other := range others {
		all.Go(func() { other(ctx) })
	}
	var o outcome
	all.Go(func() { o.latencies = b.ask(ctx) })
	all.Go(func() { b.look(ctx, length, &o) })
	all.Go(func() { b.rest(ctx) })
	all.Wait()
	o.pause = quantile(before, pauses(), 0.999)
	slices.Sort(o.latencies)
	fmt.Printf("  the third tenant was answered %d times: p50 %s, p99 %s, most %s; p99.9 of stopping the world %s\n",
		len(o.latencies), percentile(o.latencies, 50), percentile(o.latencies, 99), percentile(o.latencies, 100), o.pause)
	return o
}

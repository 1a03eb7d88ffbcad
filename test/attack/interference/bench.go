package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/test/attack"
)

const (
	hostileTenants = 2
	perTenant      = 8
	rate           = 200 // questions to the third tenant's policy in a second

	maxRatio   = 3.0
	maxPause   = 2 * time.Millisecond
	maxStay    = 200 * time.Microsecond
	maxGrowth  = 4 << 20
	firstLook  = time.Minute
	secondLook = 5 * time.Minute
)

// bench is what runs in one process: the third tenant's plugin, and those that
// run beside it.
type bench struct {
	o      options
	engine *wasm.Engine
	stays  *wasm.Stays
	third  *wasm.Plugin
	// calm are well-behaved plugins, one for each hostile tenant; attacks those
	// that load, for each, and refused the modules that do not.
	calm    []*wasm.Plugin
	attacks [][]loaded
	refused []*attack.Module

	// gate is closed while the process is looked at: no attack is under way then.
	gate             sync.RWMutex
	attempts, missed atomic.Int64
	faults           faults
}

// loaded is an attack that was loaded.
type loaded struct {
	module *attack.Module
	plugin *wasm.Plugin
}

func newBench(ctx context.Context, engine *wasm.Engine, stays *wasm.Stays, dir string, o options) (*bench, error) {
	b := &bench{o: o, engine: engine, stays: stays}
	binary, err := os.ReadFile(o.plugin)
	if err != nil {
		return nil, fmt.Errorf("%w: run make plugins first", err)
	}
	well := func(policy string) (*wasm.Plugin, error) {
		return engine.Load(ctx, binary, wasm.Options{
			Policy: policy, Hooks: []string{"admit"}, Settings: map[string]any{"allow": []any{"registry.example/*"}},
			MemoryPages: 64, Fuel: 10_000_000, OutputBytes: 64 << 10, Node: "node-1",
		})
	}
	if b.third, err = well("third"); err != nil {
		return nil, err
	}
	modules, err := attack.Modules(ctx, dir)
	if err != nil {
		return nil, err
	}
	for _, m := range modules {
		if m.Refused != nil {
			b.refused = append(b.refused, m)
		}
	}
	for tenant := range hostileTenants {
		p, err := well(fmt.Sprintf("calm-%d", tenant))
		if err != nil {
			return nil, err
		}
		b.calm = append(b.calm, p)
		var all []loaded
		for _, m := range modules {
			if m.Refused != nil {
				continue
			}
			p, err := m.Load(ctx, engine, fmt.Sprintf("%s-%d", m.Name, tenant))
			if err != nil {
				return nil, err
			}
			all = append(all, loaded{m, p})
		}
		b.attacks = append(b.attacks, all)
	}
	return b, nil
}

func (b *bench) close() {
	_ = b.third.Close()
	for _, p := range b.calm {
		_ = p.Close()
	}
	for _, all := range b.attacks {
		for _, l := range all {
			_ = l.plugin.Close()
		}
	}
}

// measure runs both phases and compares.
func (b *bench) measure(ctx context.Context) error {
	fmt.Printf("%d attacks that load and %d that are refused, by %d tenants of %d goroutines each; a third tenant's policy is asked %d times a second\n",
		len(b.attacks[0]), len(b.refused), hostileTenants, perTenant, rate)
	calm := b.phase(ctx, "well-behaved policies", b.o.calm, b.behave)
	storm := b.phase(ctx, "the attacks", b.o.storm, b.storm)
	b.stays.Count(true)
	var c control
	b.phase(ctx, "the attacks, with their stays in guest code counted", b.o.stays, b.storm, c.run)
	b.stays.Count(false)
	b.show(&c)
	var missed []error
	check := func(ok bool, format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		if ok {
			fmt.Println("ok    ", text)
		} else {
			fmt.Println("MISSED", text)
			missed = append(missed, errors.New(text))
		}
	}
	p99 := percentile(storm.latencies, 99)
	ratio := float64(p99) / float64(percentile(calm.latencies, 99))
	check(ratio <= maxRatio, "the third tenant's p99 is %.2f times that beside well-behaved policies, limit %.0f", ratio, maxRatio)
	check(storm.pause <= maxPause, "p99.9 of stopping the world is %s, limit %s; beside well-behaved policies it is %s", storm.pause, maxPause, calm.pause)
	longest := b.stays.Longest()
	check(longest <= maxStay, "the longest stay in guest code is %s, limit %s; work of our own of some 20µs took up to %s in the same time",
		longest, maxStay, c.longest)
	if storm.second.at == 0 {
		check(false, "memory, open files and goroutines were not compared: the attacks ran for less than %s", secondLook)
	} else {
		growth := storm.second.resident - storm.first.resident
		check(growth <= maxGrowth, "resident memory after %s is %.1f MiB above that after %s, limit %d MiB", secondLook, mib(growth), firstLook, maxGrowth>>20)
		check(storm.first.files == storm.second.files, "%d open files after %s, %d after %s", storm.first.files, firstLook, storm.second.files, secondLook)
		check(storm.first.goroutines == storm.second.goroutines, "%d goroutines after %s, %d after %s",
			storm.first.goroutines, firstLook, storm.second.goroutines, secondLook)
	}
	if err := b.faults.err(); err != nil {
		check(false, "every attack ends as it must: %v", err)
	} else {
		check(true, "every attack ended as it must, %d times", b.attempts.Load())
	}
	return errors.Join(missed...)
}

// show prints how long guests stayed, and how long work of our own took.
func (b *bench) show(c *control) {
	fmt.Println("stays in guest code, and in the last column work of our own of some 20µs meanwhile:")
	rows := b.stays.Histogram()
	most := int64(1)
	for _, r := range rows {
		most = max(most, r.Count)
	}
	for i, r := range rows {
		if r.Count > 0 || c.rows[i] > 0 {
			fmt.Printf("  below %10s %12d %-51s %8d\n", r.Below, r.Count, strings.Repeat("#", int((r.Count*50+most-1)/most)), c.rows[i])
		}
	}
}

// behave asks well-behaved plugins until ctx ends.
func (b *bench) behave(ctx context.Context, tenant, _ int) {
	r := attack.Request("registry.example/a:1")
	for ctx.Err() == nil {
		if _, err := b.calm[tenant].Admit(ctx, r); err != nil && ctx.Err() == nil {
			b.faults.add(err)
		}
		b.calm[tenant].Settle(ctx)
	}
}

// storm runs the suite until ctx ends, each goroutine from another place on.
func (b *bench) storm(ctx context.Context, tenant, number int) {
	all := b.attacks[tenant]
	for n := number * len(all) / perTenant; ctx.Err() == nil; n++ {
		l := all[n%len(all)]
		for i := range l.module.Questions {
			q := &l.module.Questions[i]
			b.gate.RLock()
			result, err := l.plugin.Admit(ctx, attack.Request(q.Image))
			l.plugin.Settle(ctx)
			b.gate.RUnlock()
			switch {
			case ctx.Err() != nil:
			case errors.Is(err, wasm.ErrNotReady):
				b.missed.Add(1)
			default:
				b.attempts.Add(1)
				b.faults.add(q.Judge(result, err))
			}
		}
		if len(b.refused) > 0 && n%len(all) == 0 {
			m := b.refused[n/len(all)%len(b.refused)]
			b.gate.RLock()
			_, err := m.Load(ctx, b.engine, "refused")
			b.gate.RUnlock()
			if ctx.Err() == nil {
				b.attempts.Add(1)
				b.faults.add(err)
			}
		}
	}
}

// ask asks the third tenant's policy at the rate, and gives how long after each
// question was due it was answered.
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
		b.third.Settle(ctx)
	}
}

// look looks at what the process holds, twice, while the attacks pause and after
// all plugins have rested: how many instances are in use just then is chance.
// Until the end of ctx there is the same number of goroutines.
func (b *bench) look(ctx context.Context, length time.Duration, o *outcome) {
	begun := time.Now()
	for _, l := range []struct {
		after time.Duration
		into  *look
	}{{firstLook, &o.first}, {secondLook, &o.second}} {
		if l.after >= length {
			break
		}
		select {
		case <-time.After(time.Until(begun.Add(l.after))):
			b.gate.Lock()
			b.restAll()
			b.restAll() // the first ends what was in use before
			*l.into = looked(l.after)
			b.gate.Unlock()
			fmt.Printf("  %s\n", l.into)
		case <-ctx.Done():
		}
	}
	<-ctx.Done()
}

// restPeriod is how often plugins rest, as the agent has them do.
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
	b.third.Rest()
	for _, p := range b.calm {
		p.Rest()
	}
	for _, all := range b.attacks {
		for _, l := range all {
			l.plugin.Rest()
		}
	}
}

// outcome is what a phase came to.
type outcome struct {
	latencies     []time.Duration
	pause         time.Duration
	first, second look
}

// phase has the tenants do something for a time, and others beside them.
func (b *bench) phase(ctx context.Context, what string, length time.Duration, do func(ctx context.Context, tenant, number int), others ...func(ctx context.Context)) outcome {
	fmt.Printf("%s, for %s\n", what, length)
	runtime.GC()
	before := pauses()
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	var all sync.WaitGroup
	for tenant := range hostileTenants {
		for number := range perTenant {
			all.Go(func() { do(ctx, tenant, number) })
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

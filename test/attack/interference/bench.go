package main

import (
	"context"
	"errors"
	"fmt"
	"os"
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

	maxRatio  = 3.0
	maxPause  = 2 * time.Millisecond
	maxStay   = 200 * time.Microsecond
	maxGrowth = 4 << 20
)

// bench is the state of one process: the third tenant's plugin, and the plugins that run beside it.
type bench struct {
	o      options
	engine *wasm.Engine
	stays  *wasm.Stays
	third  *wasm.Plugin
	// calm are well-behaved plugins, one for each hostile tenant. attacks are, for each, the
	// attacks that load, and refused are the modules that do not load.
	calm    []*wasm.Plugin
	attacks [][]*target
	refused []*attack.Module

	// gate is locked while the process is inspected: no attack runs then.
	gate             sync.RWMutex
	attempts, missed atomic.Int64
	// loads counts how often attacks were loaded again.
	loads atomic.Int64
	// left is the duration of the phases that have not begun.
	left   time.Duration
	faults faults
}

func newBench(ctx context.Context, engine *wasm.Engine, stays *wasm.Stays, dir string, o options) (*bench, error) {
	b := &bench{o: o, engine: engine, stays: stays}
	binary, err := os.ReadFile(o.plugin)
	if err != nil {
		return nil, fmt.Errorf("%w: run make plugins first", err)
	}
	well := func(policy string) (*wasm.Plugin, error) {
		return load(ctx, engine, binary, &wasm.Options{
			Policy: policy, Hooks: []string{"admit"}, Settings: map[string]any{"allow": []any{"registry.example/*"}},
			MemoryPages: 64, Fuel: 10_000_000, OutputBytes: 64 << 10, Node: "node-1", Tenant: policy,
		})
	}
	if b.third, err = well("third"); err != nil {
		return nil, err
	}
	modules, err := attack.Modules(ctx, dir)
	if err != nil {
		return nil, err
	}
	choices, err := attack.Choices(ctx, dir)
	if err != nil {
		return nil, err
	}
	modules = append(modules, choices...)
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
		var all []*target
		for _, m := range modules {
			if m.Refused != nil {
				continue
			}
			t := &target{module: m, tenant: fmt.Sprintf("hostile-%d", tenant)}
			if err := t.load(ctx, engine); err != nil {
				return nil, err
			}
			all = append(all, t)
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
		for _, t := range all {
			_ = t.now.plugin.Close()
		}
	}
}

// measure runs the phases and compares. Stays are counted at the beginning, of new attackers, and
// at the end, of known ones. They are counted in separate phases, because counting must not add to
// the third tenant's latency.
func (b *bench) measure(ctx context.Context) error {
	fmt.Printf("%d attacks that load and %d that are refused, by %d tenants of %d goroutines each, which write their sets anew all the time; a third tenant's policy is asked %d times a second\n",
		len(b.attacks[0]), len(b.refused), hostileTenants, perTenant, rate)
	b.left = b.o.calm + b.o.early + b.o.storm + b.o.stays
	var c control
	counted := func(what string, length time.Duration) time.Duration {
		b.stays.Count(true)
		b.phase(ctx, what, length, b.hostile(), c.run)
		b.stays.Count(false)
		return b.stays.Longest()
	}
	calm := b.phase(ctx, "well-behaved policies", b.o.calm, behaviour{call: b.behave})
	early := counted("the attacks, new, with their stays in guest code counted", b.o.early)
	storm := b.phase(ctx, "the attacks", b.o.storm, b.hostile())
	longest := counted("the attacks, with their stays in guest code counted", b.o.stays)
	if ctx.Err() != nil {
		return errors.New("interrupted; what was measured before is above, and no limit was judged")
	}
	b.show(&c)
	var v verdict
	p99 := percentile(storm.latencies, 99)
	ratio := float64(p99) / float64(percentile(calm.latencies, 99))
	v.check(ratio <= maxRatio, "the third tenant's p99 is %.2f times that beside well-behaved policies, limit %.0f", ratio, maxRatio)
	v.check(storm.pause <= maxPause, "p99.9 of stopping the world is %s, limit %s; beside well-behaved policies it is %s", storm.pause, maxPause, calm.pause)
	v.check(longest <= maxStay, "the longest stay in guest code is %s, limit %s; while the attacks were new it was %s; work of our own of some 20µs took up to %s in the same time",
		longest, maxStay, early, c.longest)
	b.compare(&v, storm.first, storm.second)
	if err := b.faults.err(); err != nil {
		v.check(false, "every attack ends as it must: %v", err)
	} else {
		v.check(true, "every attack ended as it must, %d times; %d had no instance for a question; %d modules were loaded again",
			b.attempts.Load(), b.missed.Load(), b.loads.Load())
	}
	return errors.Join(v.missed...)
}

// hostile returns the behaviour of the hostile tenants.
func (b *bench) hostile() behaviour { return behaviour{call: b.storm, rewrite: b.rewrite} }

// compare checks that the process uses no more resources after a long time than before.
func (b *bench) compare(v *verdict, first, second look) {
	if second.at == 0 {
		v.check(false, "memory, open files and goroutines were not compared: the attacks ran for less than %s", b.o.second)
		return
	}
	growth := second.resident - first.resident
	v.check(growth <= maxGrowth, "resident memory after %s is %.1f MiB above that after %s, limit %d MiB", second.at, mib(growth), first.at, maxGrowth>>20)
	v.check(first.files == second.files, "%d open files after %s, %d after %s", first.files, first.at, second.files, second.at)
	v.check(first.goroutines == second.goroutines, "%d goroutines after %s, %d after %s", first.goroutines, first.at, second.goroutines, second.at)
}

// verdict prints which limits are kept, and records those that are missed.
type verdict struct{ missed []error }

func (v *verdict) check(ok bool, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if ok {
		fmt.Println("ok    ", text)
		return
	}
	fmt.Println("MISSED", text)
	v.missed = append(v.missed, errors.New(text))
}

// show prints how long guests stayed, and how long the control's own work took.
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
		b.calm[tenant].Reset(ctx)
	}
}

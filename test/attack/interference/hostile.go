package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/test/attack"
)

const (
	// rewritePause is how long a tenant waits after it has loaded its set before it loads all of it
	// again.
	rewritePause = 3 * time.Second
	// calmImage is an image for which a storming plugin behaves well. Before any other image, the
	// plugin is asked about it from leastCalm to mostCalm times, so that an instance becomes
	// trusted.
	calmImage           = "calm"
	leastCalm, mostCalm = 20, 40
)

// target is an attack that a tenant has loaded and loads again.
type target struct {
	module *attack.Module
	tenant string
	loads  uint64

	mu  sync.Mutex
	now *edition
}

// edition is a plugin, and the calls running in it.
type edition struct {
	plugin *wasm.Plugin
	calls  sync.WaitGroup
}

// use calls do with the plugin, which is not closed meanwhile.
func (t *target) use(do func(p *wasm.Plugin)) {
	t.mu.Lock()
	e := t.now
	e.calls.Add(1)
	t.mu.Unlock()
	defer e.calls.Done()
	do(e.plugin)
}

// load loads the module, each time with different bytes, and closes the previous plugin when no
// call is running in it. Only one goroutine may call load at a time.
func (t *target) load(ctx context.Context, engine *wasm.Engine) error {
	o := t.module.Options(t.module.Name)
	o.Tenant = t.tenant
	t.loads++
	p, err := load(ctx, engine, numbered(t.module.Binary, t.loads), &o)
	if err != nil {
		return fmt.Errorf("%s: it is refused: %w", t.module.Name, err)
	}
	t.mu.Lock()
	before := t.now
	t.now = &edition{plugin: p}
	t.mu.Unlock()
	if before == nil {
		return nil
	}
	before.calls.Wait()
	return before.plugin.Close()
}

// load loads a module as the agent does before its set is in force.
func load(ctx context.Context, engine *wasm.Engine, binary []byte, o *wasm.Options) (*wasm.Plugin, error) {
	p, err := engine.Load(ctx, binary, *o)
	if err != nil {
		return nil, err
	}
	p.Warm(ctx, o.Hooks)
	return p, nil
}

// numbered returns a module with other bytes that does the same, so that nothing cached for the
// previous one applies.
func numbered(module []byte, n uint64) []byte {
	return binary.LittleEndian.AppendUint64(append(slices.Clip(module), 0, 9, 0), n) // a custom section without a name
}

// storm runs the suite until ctx ends; each goroutine starts at another place.
func (b *bench) storm(ctx context.Context, tenant, number int) {
	all := b.attacks[tenant]
	for n := number * len(all) / perTenant; ctx.Err() == nil; n++ {
		t := all[n%len(all)]
		for i := range t.module.Questions {
			q := &t.module.Questions[i]
			for range times(q) {
				b.attack(ctx, t, q)
			}
		}
		if len(b.refused) > 0 && n%len(all) == 0 {
			m := b.refused[n/len(all)%len(b.refused)]
			b.gate.RLock()
			_, err := m.Load(ctx, b.engine, "refused")
			b.gate.RUnlock()
			b.attempted(ctx, err)
		}
	}
}

// times returns how often a question is asked before the next one.
func times(q *attack.Question) int {
	if q.Image == calmImage {
		return leastCalm + rand.IntN(mostCalm-leastCalm+1)
	}
	return 1
}

// attack asks an attack a question.
func (b *bench) attack(ctx context.Context, t *target, q *attack.Question) {
	b.gate.RLock()
	defer b.gate.RUnlock()
	t.use(func(p *wasm.Plugin) {
		_, err := t.module.Try(ctx, p, q)
		p.Reset(ctx)
		if err != nil && !errors.Is(err, wasm.ErrNotReady) {
			err = fmt.Errorf("%s: %w", t.module.Name, err)
		}
		b.attempted(ctx, err)
	})
}

// attempted counts an attempt, and records an error if it did not end as it must. An attempt that
// ctx has ended does not count.
func (b *bench) attempted(ctx context.Context, err error) {
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, wasm.ErrNotReady):
		b.missed.Add(1)
	default:
		b.attempts.Add(1)
		b.faults.add(err)
	}
}

// rewrite loads the tenant's set repeatedly until ctx ends, beginning at once, each time in another
// order.
func (b *bench) rewrite(ctx context.Context, tenant int) {
	for {
		for _, i := range rand.Perm(len(b.attacks[tenant])) {
			b.gate.RLock()
			err := b.attacks[tenant][i].load(ctx, b.engine)
			b.gate.RUnlock()
			if ctx.Err() != nil {
				return
			}
			b.loads.Add(1)
			b.faults.add(err)
		}
		select {
		case <-time.After(rewritePause):
		case <-ctx.Done():
			return
		}
	}
}

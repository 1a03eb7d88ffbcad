package policy

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/wardlet/wardlet/core/policy/wasm"
)

const (
	// breakAfter is how many failures in a row of a plugin, on the pods of one
	// tenant, open its breaker for that tenant.
	breakAfter = 5
	// An open breaker is tried again after minBreak, and after each further failure
	// twice as long, up to maxBreak.
	minBreak = 10 * time.Second
	maxBreak = 5 * time.Minute
	// breakerOpen is the code of a failure where the plugin was not asked.
	breakerOpen wasm.FailureCode = "BreakerOpen"
)

// breakers keep a plugin that fails from being asked again and again: one for
// each tenant of the judged pods, so that a tenant whose pods make an operator's
// plugin fail changes nothing for others. The zero value is ready, and safe for
// concurrent use. It ends with the plugin.
type breakers struct {
	mu sync.Mutex
	of map[string]*breaker
}

// breaker is that of one tenant, "" for the operator's own pods.
type breaker struct {
	failed int
	until  time.Time
	last   string
}

// open is why the plugin is not asked about a tenant's pods now; nil if it is.
// While one question tries whether it fails on, the others wait for no answer.
func (b *breakers) open(tenant string, now time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.of[tenant]
	if one == nil || one.failed < breakAfter {
		return nil
	}
	left := one.until.Sub(now)
	if left <= 0 || left > maxBreak { // more than that only where the clock went back
		one.until = now.Add(one.pause())
		return nil
	}
	return &wasm.Failure{Code: breakerOpen, Err: fmt.Errorf("it failed %d times in a row and is not asked for another %s; the last time: %s",
		one.failed, left.Round(time.Second), one.last)}
}

// opened is the failure that has it open for a tenant's pods, empty for none.
func (b *breakers) opened(tenant string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if one := b.of[tenant]; one != nil && one.failed >= breakAfter {
		return one.last
	}
	return ""
}

// note takes in how a call ended: failed is empty where it did not fail.
func (b *breakers) note(tenant, failed string, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if failed == "" {
		delete(b.of, tenant)
		return
	}
	one := b.of[tenant]
	if one == nil {
		one = &breaker{}
		if b.of == nil {
			b.of = map[string]*breaker{}
		}
		b.of[tenant] = one
	}
	one.failed++
	one.last, one.until = failed, now.Add(one.pause())
}

// ended is note for a call that gave an error or none; one that was cut off does
// not count.
func (b *breakers) ended(ctx context.Context, tenant string, err error, now time.Time) {
	if ctx.Err() != nil {
		return
	}
	failed := ""
	if err != nil {
		failed, _, _ = failureOf(err)
	}
	if failed == string(wasm.NotReady) {
		return
	}
	b.note(tenant, failed, now)
}

// pause is how long the breaker stays open after the failures so far.
func (b *breaker) pause() time.Duration {
	return min(minBreak<<min(max(b.failed-breakAfter, 0), 10), maxBreak)
}

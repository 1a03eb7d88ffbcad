package eval

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/backoff"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// BreakDelays are the delays before a question that failed is tried again, by the number of
// such attempts.
var BreakDelays = backoff.Exponential{Min: 10 * time.Second, Max: 5 * time.Minute}

const (
	// BreakAfter is how many failures in a row of a plugin, on the pods of one
	// tenant, open its breaker for that tenant.
	BreakAfter = 5
	// TurnTime is the interval at which an open breaker lets through one question that has
	// not failed.
	TurnTime = time.Second
	// MaxTurn is how far ahead turns are reserved.
	MaxTurn = time.Minute
	// maxFailing is the number of failed questions that a breaker remembers.
	maxFailing = 1024
	// BreakerOpen is the code of a question that is not asked because the plugin failed on it.
	BreakerOpen abi.FailureCode = "BreakerOpen"
	// BreakerWaits is the code of a question that is not asked because the plugin failed on others.
	BreakerWaits abi.FailureCode = "BreakerWaits"
)

// breakers keep a failing plugin from being called again and again: one for each tenant of
// the judged pods, so that a tenant whose pods make an operator's plugin fail does not
// affect others. They exist as long as the plugin. The zero value is ready, and safe for
// concurrent use.
type breakers struct {
	mu sync.Mutex
	of map[string]*breaker
}

// QuestionID identifies a question to a plugin: a hook and a version of a pod, or a
// conflict.
type QuestionID [sha256.Size]byte

// breaker is the breaker for the pods of one tenant, or for the operator's own pods. It is
// open after BreakAfter failures in a row, until a call does not fail.
type breaker struct {
	failed int
	last   string
	// failing are the questions that failed.
	failing map[QuestionID]struct{}
	// tries counts the failed questions that were tried again since the breaker opened. until is
	// the time of the next attempt. trying reports that an attempt is running.
	tries  int
	until  time.Time
	trying bool
	// next is the first turn that is not reserved. turns are the reserved turns, by
	// question. These questions have not failed.
	next  time.Time
	turns map[QuestionID]time.Time
}

// open reports whether a plugin is asked a question now: then both results are zero.
// Otherwise err is the failure, or wait is how long a question that has not failed waits
// for its turn. wait is at most patience.
func (b *breakers) open(tenant string, id func() QuestionID, patience time.Duration, now time.Time) (wait time.Duration, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.of[tenant]
	if !one.isOpen() {
		return 0, nil
	}
	q := id()
	if _, failed := one.failing[q]; !failed {
		if wait = one.turn(q, patience > 0, now); wait <= patience {
			return wait, nil
		}
		return 0, one.failure(BreakerWaits, fmt.Sprintf("is asked this in %s at the earliest", max(wait.Round(time.Second), time.Second)))
	}
	left := one.until.Sub(now)
	if left <= 0 || left > BreakDelays.Max { // more only if the clock went back
		one.until, one.trying = now.Add(one.pause()), true
		return 0, nil
	}
	return 0, one.failure(BreakerOpen, fmt.Sprintf("is not asked this again for another %s", left.Round(time.Second)))
}

// isOpen reports whether the breaker is open; it may be nil.
func (b *breaker) isOpen() bool { return b != nil && b.failed >= BreakAfter }

// failure returns the failure of a question that is not asked.
func (b *breaker) failure(code abi.FailureCode, why string) error {
	return &abi.Failure{Code: code, Err: fmt.Errorf("it failed %d times in a row and %s; the last time: %s", b.failed, why, b.last)}
}

// turn returns how long a question that has not failed waits for its turn, and reserves the
// turn if it is not too far ahead. A question that cannot wait gets a turn only if that is
// now.
func (b *breaker) turn(q QuestionID, waits bool, now time.Time) time.Duration {
	if b.next.Sub(now) > MaxTurn+TurnTime { // the clock went back
		b.next, b.turns = now, nil
	}
	at, reserved := b.turns[q]
	if !reserved {
		if at = later(b.next, now); at.Sub(now) > MaxTurn {
			return at.Sub(now)
		}
		if !waits && at.After(now) {
			return at.Sub(now)
		}
		b.next = at.Add(TurnTime)
	}
	wait := at.Sub(now)
	if wait <= 0 {
		delete(b.turns, q)
		return 0
	}
	b.reserve(q, at, now)
	return wait
}

// reserve records the turn of a question, and drops turns that were not used.
func (b *breaker) reserve(q QuestionID, at, now time.Time) {
	if b.turns == nil {
		b.turns = map[QuestionID]time.Time{}
	}
	if b.turns[q] = at; len(b.turns) > 2*int(MaxTurn/TurnTime) {
		for q, at := range b.turns {
			if now.Sub(at) > MaxTurn {
				delete(b.turns, q)
			}
		}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// left returns the delay before a question that failed or was not asked is asked again; 0
// if the tenant's breaker is not open.
func (b *breakers) left(tenant string, id func() QuestionID, now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.of[tenant]
	if !one.isOpen() {
		return 0
	}
	at := one.until
	if _, failed := one.failing[id()]; !failed {
		at = one.next
	} else if one.trying {
		at = now // the running attempt may close the breaker
	}
	return max(at.Sub(now), minRetryAfter)
}

// Opened returns the last failure if the breaker for a tenant's pods is open, else an empty
// string.
func (b *breakers) Opened(tenant string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if one := b.of[tenant]; one.isOpen() {
		return one.last
	}
	return ""
}

// note records the result of a call: failed is empty if it did not fail. A failed question
// does not keep others from being asked.
func (b *breakers) note(tenant string, id func() QuestionID, failed string, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if failed == "" {
		delete(b.of, tenant)
		return
	}
	one := b.of[tenant]
	if one == nil {
		one = &breaker{failing: map[QuestionID]struct{}{}}
		if b.of == nil {
			b.of = map[string]*breaker{}
		}
		b.of[tenant] = one
	}
	was, q := one.isOpen(), id()
	one.failed++
	one.last = failed
	switch _, again := one.failing[q]; {
	case !one.isOpen():
	case !was:
		one.until = now.Add(one.pause())
	case again && one.trying:
		one.tries++
		one.until, one.trying = now.Add(one.pause()), false
	}
	one.fail(q)
}

// fail records a question that failed. If there are too many, another one is dropped.
func (b *breaker) fail(q QuestionID) {
	b.failing[q] = struct{}{}
	for other := range b.failing {
		if len(b.failing) <= maxFailing {
			return
		}
		if other != q {
			delete(b.failing, other)
		}
	}
}

// ended does the same as note, but ignores a call that was interrupted or found no
// instance.
func (b *breakers) ended(ctx context.Context, tenant string, id func() QuestionID, failed string, now time.Time) {
	switch {
	case ctx.Err() != nil:
	case failed == string(abi.NotReady):
		b.untried(tenant, now)
	default:
		b.note(tenant, id, failed, now)
	}
}

// untried lets another failed question be tried, because this one was not tried.
func (b *breakers) untried(tenant string, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if one := b.of[tenant]; one.isOpen() && one.trying {
		one.until, one.trying = now, false
	}
}

// pause returns for how long failed questions are not tried again.
func (b *breaker) pause() time.Duration { return BreakDelays.Delay(b.tries) }

// close drops all failures, and reports whether there were any. Turns stay: if a breaker
// opens again at once, questions that waited come first.
func (b *breakers) close() (had bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for tenant, one := range b.of {
		had = had || one.failed > 0
		b.of[tenant] = &breaker{failing: map[QuestionID]struct{}{}, next: one.next, turns: one.turns}
	}
	return had
}

// show returns the open breakers for `get policies`.
func (b *breakers) show() (open []api.PolicyBreaker) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for tenant, one := range b.of {
		if one.isOpen() {
			open = append(open, api.PolicyBreaker{
				Tenant: tenant, Failed: one.failed, Last: one.last, Failing: len(one.failing), Until: one.until,
			})
		}
	}
	slices.SortFunc(open, func(x, y api.PolicyBreaker) int { return cmp.Compare(x.Tenant, y.Tenant) })
	return open
}

// minRetryAfter is the shortest time after which a question is asked again.
const minRetryAfter = time.Second

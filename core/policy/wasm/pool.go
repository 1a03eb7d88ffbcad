package wasm

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// warmInstances is how many instances a plugin keeps even if they are not used.
const warmInstances = 1

// ErrNotReady is the error if the plugin gets no instance for the call, because
// calls about pods of the same tenant broke too many instances. It is no verdict:
// the caller may ask again.
var ErrNotReady = abi.Failf(abi.NotReady, "the plugin broke its instances on pods of the same tenant, and is given no more than 10 new ones a second for all tenants with such pods: ask again later")

var errClosed = abi.Failf(abi.HostError, "the plugin is closed")

// pool holds the instances of a plugin.
type pool struct {
	mu sync.Mutex
	// freed is signalled when an instance is returned or thrown away.
	freed sync.Cond
	// clean are instances that are ready for a call. used are instances that must
	// be reset first. The last of each list is the one that was used last.
	clean, used []*instance
	// made is the number of instances. most is how many there may be.
	made, most int
	// losses are the times at which instances were thrown away, by the tenant of
	// the pod of their last call; nil for none.
	losses map[string]*losses
	// paid is how many new instances were already paid for, by the calls that broke
	// their predecessors.
	paid int
	// owed is the cost of calls that is not paid yet.
	owed owed
	// idle is the use of the pool since the last Trim.
	idle   idle
	closed bool
	now    func() time.Time
}

func newPool(most int) pool { return pool{most: most, now: time.Now} }

// open initialises the pool with the first instance.
func (l *pool) open(first *instance) {
	l.freed.L = &l.mu
	l.clean, l.made = []*instance{first}, 1
}

// take returns an instance for a call. It waits while all are in use, until ctx is
// done.
func (p *Plugin) take(ctx context.Context) (*instance, error) {
	l := &p.pool
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		switch {
		case l.closed:
			return nil, errClosed
		case len(l.clean) > 0:
			return pop(&l.clean), nil
		case len(l.used) > 0:
			i := pop(&l.used)
			l.mu.Unlock()
			ok := i.reset()
			l.mu.Lock()
			l.owe(i)
			if ok {
				return i, nil
			}
			l.lose(i)
		case l.made < l.most:
			l.made++
			paid := l.isPaid()
			l.mu.Unlock()
			i, err := p.charged(ctx, paid)
			l.mu.Lock()
			if err != nil {
				l.made--
				l.freed.Broadcast()
			}
			return i, err
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		default:
			stop := context.AfterFunc(ctx, l.wake)
			l.freed.Wait()
			stop()
		}
	}
}

// isPaid reports whether a call has paid for the next new instance, and uses that
// payment up.
func (l *pool) isPaid() bool {
	if l.paid == 0 {
		return false
	}
	l.paid--
	return true
}

// charged makes an instance. If the plugin belongs to a tenant and the instance is
// not paid for, the first call of the instance pays for making it: loading the
// plugin paid for the first instance only.
func (p *Plugin) charged(ctx context.Context, paid bool) (*instance, error) {
	if paid || p.longest != tenantSlice {
		return p.another(ctx)
	}
	fuel := int64(0)
	stop := startCost(WithCost(ctx, func(cpu time.Duration) { fuel += cpu.Nanoseconds() * fuelPerMicrosecond / 1000 }), nil)
	i, err := p.another(ctx)
	stop()
	if err == nil {
		i.made = fuel
	}
	return i, err
}

// wake wakes all calls that wait for an instance.
func (l *pool) wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.freed.Broadcast()
}

func pop(list *[]*instance) *instance {
	last := len(*list) - 1
	i := (*list)[last]
	(*list)[last] = nil
	*list = (*list)[:last]
	return i
}

// give returns an instance to the pool after a call. again reports whether the
// instance can be used again after a reset; otherwise it is thrown away. extra is
// what the tenant of the call owes, and the cost of a new instance if one must be
// made.
func (p *Plugin) give(i *instance, again bool) (extra int64) {
	l := &p.pool
	l.mu.Lock()
	defer l.mu.Unlock()
	l.idle.ended(l.inUse())
	if again && !l.closed && i.linear.Shrink(i.memory) {
		l.used = append(l.used, i)
	} else {
		l.lose(i)
		l.paid++
		extra = p.rebuilding.fuel()
	}
	l.freed.Signal()
	return extra + l.owed.pay(i.tenant)
}

// lose throws an instance away. The instance remains in made until it is closed,
// because drain waits until made is 0.
func (l *pool) lose(i *instance) {
	l.lost(i.tenant)
	l.mu.Unlock()
	i.judgeLost()
	i.owes = i.touched(i.linear.Fresh())
	i.close()
	l.mu.Lock()
	l.owe(i)
	l.made--
	l.freed.Broadcast()
}

// Reset resets the instances that calls have used, and replaces broken ones, so
// that the next call need not do so. It is to be called after a verdict was
// returned.
func (p *Plugin) Reset(ctx context.Context) {
	l := &p.pool
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.used) > 0 && !l.closed {
		i := pop(&l.used)
		l.mu.Unlock()
		ok := i.reset()
		l.mu.Lock()
		l.owe(i)
		if ok {
			l.clean = append(l.clean, i)
			l.freed.Signal()
		} else {
			l.lose(i)
		}
	}
	for l.made < warmInstances && !l.closed {
		l.made++
		_ = l.isPaid()
		l.mu.Unlock()
		i, err := p.another(ctx)
		l.mu.Lock()
		if err != nil {
			l.made--
			p.log.Logger.ErrorContext(ctx, "no instance of the plugin can be made", "error", err)
			return
		}
		l.clean = append(l.clean, i)
		l.freed.Signal()
	}
}

// drain closes all instances. It waits for those in use.
func (l *pool) drain() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.freed.Broadcast()
	for {
		for len(l.clean)+len(l.used) > 0 {
			list := &l.clean
			if len(*list) == 0 {
				list = &l.used
			}
			i := pop(list)
			l.made--
			l.mu.Unlock()
			i.close()
			l.mu.Lock()
		}
		if l.made == 0 {
			return
		}
		l.freed.Wait()
	}
}

const (
	// fuelPerMicrosecond is the fuel for a microsecond of the host's time: 0.5 ns a
	// unit.
	fuelPerMicrosecond = 2000
	// Replacing an instance is charged at least leastRebuild, because a clock may
	// stand still, and at most mostRebuild, because a busy machine takes longer.
	leastRebuild = 100 * time.Microsecond
	mostRebuild  = 20 * time.Millisecond
)

// rebuilding is the shortest time that making an instance of a plugin took so far.
type rebuilding struct{ least atomic.Int64 }

// took records how long making an instance took.
func (r *rebuilding) took(d time.Duration) {
	for {
		least := r.least.Load()
		if least != 0 && least <= int64(d) || r.least.CompareAndSwap(least, int64(d)) {
			return
		}
	}
}

// fuel returns what a call is charged if its instance is thrown away.
func (r *rebuilding) fuel() int64 {
	d := min(max(time.Duration(r.least.Load()), leastRebuild), mostRebuild)
	return d.Nanoseconds() * fuelPerMicrosecond / 1000
}

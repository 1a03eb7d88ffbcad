package compile

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// contender is an owner whose modules are compiled one after the other.
type contender struct {
	owner string
	need  time.Duration
	// modules is the number of modules to compile.
	modules int

	ticket       *ticket
	digest       Digest
	cpu, all     time.Duration
	runs, ending bool
	displaced    int
	// began is the time when the owner joined. waited is how long the owner then waited for
	// its first child. verdicts has the time at which each module was done.
	began    time.Time
	waited   time.Duration
	verdicts []time.Duration
}

// contest lets owners compete for a node with two cores.
type contest struct {
	queue
	all []*contender
}

func (c *contest) enter(owner string, need time.Duration, modules int) *contender {
	one := &contender{owner: owner, need: need, modules: modules, began: time.Now(), digest: Digest{byte(len(c.all)), 0}}
	one.ticket = c.join(owner, one.digest, false)
	c.all = append(c.all, one)
	return one
}

// run advances time until done returns true.
func (c *contest) run(done func() bool) {
	const tick = 50 * time.Millisecond
	for !done() {
		running := 0
		for _, one := range c.all {
			if one.ticket != nil && !one.runs && hasTurn(one.ticket) {
				one.runs, one.ending, one.cpu = true, false, 0
				if one.displaced == 0 && len(one.verdicts) == 0 {
					one.waited = time.Since(one.began)
				}
				c.started(one.ticket, func() time.Duration { return one.cpu }, func() { one.ending = true })
			}
			if one.runs {
				running++
			}
		}
		time.Sleep(tick)
		for _, one := range c.all {
			if one.runs {
				c.step(one, min(tick, 2*tick/time.Duration(running)))
			}
		}
	}
}

// step lets a child use processor time, and ends the child when it is done or displaced.
func (c *contest) step(one *contender, cpu time.Duration) {
	c.mu.Lock()
	one.cpu += cpu
	one.all += cpu
	ending := one.ending
	c.mu.Unlock()
	if !ending && one.cpu < one.need {
		return
	}
	one.runs = false
	c.ended(one.ticket, one.cpu)
	c.leave(one.ticket)
	one.ticket, one.cpu = nil, 0
	if ending {
		one.displaced++
		one.ticket = c.join(one.owner, one.digest, true)
		return
	}
	one.verdicts = append(one.verdicts, time.Since(one.began))
	one.digest[1]++
	if len(one.verdicts) < one.modules {
		one.ticket = c.join(one.owner, one.digest, false)
	}
}

func (c *contest) close() {
	for _, one := range c.all {
		if one.ticket != nil {
			c.leave(one.ticket)
		}
	}
}

// enterHostile adds owners whose modules use all the processor time that they may.
func (c *contest) enterHostile(owners int) {
	for range owners {
		c.enter(fmt.Sprint("hostile", len(c.all)), 30*time.Second, 4)
	}
}

// TestQueue_hostileOwnersHoldNobodyUp checks that an owner that has used little processor
// time does not wait for owners that have used much, however many they are.
func TestQueue_hostileOwnersHoldNobodyUp(t *testing.T) {
	t.Parallel()
	const need = 5 * time.Second
	for name, test := range map[string]struct {
		owner string
		// operators is the number of modules that the operator compiles at the same time.
		operators int
	}{
		"a tenant": {"new", 0}, "the operator": {"", 0}, "a tenant, and the operator as well": {"new", 100},
	} {
		for _, hostile := range []int{1, 2, 3, 4, 6, 12, 24} {
			var waited, done time.Duration
			lost := 0
			for comes := time.Minute; comes < 4*time.Minute; comes += 9700 * time.Millisecond {
				synctest.Test(t, func(*testing.T) {
					var c contest
					defer c.close()
					c.enterHostile(hostile)
					begin := time.Now()
					c.run(func() bool { return time.Since(begin) >= comes-12*time.Second })
					if test.operators > 0 {
						c.enter("", 20*time.Second, test.operators)
					}
					c.run(func() bool { return time.Since(begin) >= comes })
					one := c.enter(test.owner, need, 1)
					c.run(func() bool { return len(one.verdicts) > 0 })
					waited, done, lost = max(waited, one.waited), max(done, one.verdicts[0]), max(lost, one.displaced)
				})
			}
			t.Logf("%s beside %d: a child after %v, done after %v, displaced %d times", name, hostile, waited, done, lost)
			if waited > 3*time.Second || done > 8*time.Second || lost > 0 {
				t.Errorf("%s beside %d hostile owners: a child after %v, done after %v, displaced %d times; want 3s, 8s and never",
					name, hostile, waited, done, lost)
			}
		}
	}
}

// TestQueue_ownersThatComeAtOnceShare checks owners that join at the same time, before their
// usage is known: all share the places, but the operator hardly waits.
func TestQueue_ownersThatComeAtOnceShare(t *testing.T) {
	t.Parallel()
	const need, hostile = 5 * time.Second, 12
	for owner, most := range map[string]struct{ waited, done time.Duration }{
		"":    {3 * time.Second, 3*time.Second + need},
		"new": {hostile*grace/2 + 2*time.Second, hostile*((grace+lookAgain)/2+muchMore*grace+lookAgain) + need},
	} {
		var waited, done time.Duration
		for before := range hostile + 1 {
			synctest.Test(t, func(*testing.T) {
				var c contest
				defer c.close()
				c.enterHostile(before)
				one := c.enter(owner, need, 1)
				c.enterHostile(hostile - before)
				c.run(func() bool { return len(one.verdicts) > 0 })
				waited, done = max(waited, one.waited), max(done, one.verdicts[0])
			})
		}
		t.Logf("%q: a child after %v, done after %v", owner, waited, done)
		if waited > most.waited || done > most.done {
			t.Errorf("%q: a child after %v, done after %v; want %v and %v", owner, waited, done, most.waited, most.done)
		}
	}
}

// TestQueue_everyModuleIsDoneInTheEnd checks that modules that displace each other are all
// compiled, at a cost that does not grow with their number.
func TestQueue_everyModuleIsDoneInTheEnd(t *testing.T) {
	t.Parallel()
	for _, hostile := range []int{3, 4, 6, 12, 40} {
		synctest.Test(t, func(t *testing.T) {
			var c contest
			defer c.close()
			c.enterHostile(hostile)
			begin := time.Now()
			c.run(func() bool {
				for _, one := range c.all {
					if len(one.verdicts) == 0 {
						return time.Since(begin) > 2*time.Hour
					}
				}
				return true
			})
			for _, one := range c.all {
				switch {
				case len(one.verdicts) == 0:
					t.Errorf("%d owners: %s has no verdict after %v, displaced %d times", hostile, one.owner, one.all, one.displaced)
				case one.displaced > 4, one.all-time.Duration(len(one.verdicts))*one.need-one.cpu > one.need:
					t.Errorf("%d owners: %s took %v for %d modules, displaced %d times", hostile, one.owner, one.all, len(one.verdicts), one.displaced)
				}
			}
			t.Logf("%d owners: all have a verdict after %v", hostile, time.Since(begin))
		})
	}
}

// TestQueue_manySmallModulesStopNobody checks that an owner of many small modules, compiled
// one after the other, occupies one place and does not displace the child in the other place.
func TestQueue_manySmallModulesStopNobody(t *testing.T) {
	t.Parallel()
	for _, owner := range []string{"new", ""} {
		synctest.Test(t, func(t *testing.T) {
			var c contest
			defer c.close()
			c.enterHostile(4)
			c.enter(owner, 50*time.Millisecond, 1<<20)
			begin := time.Now()
			c.run(func() bool {
				for _, one := range c.all {
					if len(one.verdicts) == 0 {
						return time.Since(begin) > 10*time.Minute
					}
				}
				return true
			})
			for _, one := range c.all {
				if len(one.verdicts) == 0 {
					t.Errorf("beside small modules of %q: %s has no verdict after %v, displaced %d times", owner, one.owner, one.all, one.displaced)
				}
			}
			t.Logf("%q: all have a verdict after %v", owner, time.Since(begin))
		})
	}
}

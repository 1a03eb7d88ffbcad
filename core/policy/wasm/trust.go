package wasm

import "github.com/wardlet/wardlet/core/policy/wasm/memory"

// The first touch of a page of an instance by a guest is a page fault: 0.5 µs in
// the kernel to read it and 2 to write to it, which no fuel counts, and 20 where
// the machine is a virtual one whose host must find a page first. Nothing
// interrupts a guest but the end of its slice, so an instance gets slices of
// leastSlice until it is trusted: until calls have shown that they read and write
// where calls did before.
const (
	// stormBytes is the most that a calm call touches of pages it had to be given:
	// with two faults for each that takes about as long as two slices.
	stormBytes = 128 << 10
	// calmCalls is after how many calm calls in a row an instance is trusted.
	calmCalls = 8
	// A call of a trusted instance that touches more pages is a storm. Each of the
	// first mostStorms has all instances of the plugin need stormFactor times as
	// many calm calls from then on.
	stormFactor = 32
	mostStorms  = 4
	// tenantSlice is what a trusted instance of a tenant's plugin gets: who writes
	// plugins to harm others can have them calm as often as it takes, and a touch
	// takes 4 units at least.
	tenantSlice = 128
)

// longestSlice is what a trusted instance of an owner's plugin gets at once at most.
// tenant is empty for the operator.
func longestSlice(tenant string) int64 {
	if tenant != "" {
		return tenantSlice
	}
	return mostSlice
}

// judge trusts the instance, or no longer, by what its last call touched.
func (i *instance) judge(last memory.Restored) {
	if last.Fresh > stormBytes {
		// Where memories are put back by Drop the count has the page faults of
		// others in it: that is a reason for doubt, and for no more.
		if (i.trusted() || i.tank.cut) && i.linear.Method() != memory.Drop {
			i.plugin.storms.Add(1)
		}
		i.calm = 0
		i.doubt()
		return
	}
	i.tank.cut = false
	if last.Dropped > 0 && i.linear.Method() == memory.Scan {
		i.dropped()
	}
	need := i.plugin.needsCalm()
	i.calm = min(i.calm, need) + 1
	if i.calm > need {
		i.tank.most = i.plugin.longest
	} else {
		i.doubt()
	}
}

// trusted says that the last call could have long slices.
func (i *instance) trusted() bool { return i.tank.most > leastSlice }

// doubt has the next call get short slices.
func (i *instance) doubt() { i.tank.slice, i.tank.most, i.tank.cut = leastSlice, leastSlice, false }

// dropped is for an instance whose pages are not mapped any more, so that each
// will be a fault again: it must show as many calm calls as a new one.
func (i *instance) dropped() {
	i.calm = min(i.calm, i.plugin.needsCalm()-calmCalls)
	i.doubt()
}

// needsCalm is how many calm calls in a row the plugin's instances must show.
func (p *Plugin) needsCalm() int {
	need := calmCalls
	for range min(p.storms.Load(), mostStorms) {
		need *= stormFactor
	}
	return need
}

// judgeLost is judge for an instance that is thrown away: its last call may have
// touched much before it trapped. A rehearsal gets short slices whatever it was.
func (i *instance) judgeLost() {
	if i.tenant != noTenant && i.calm > i.plugin.needsCalm() && i.linear.Method() != memory.Drop && i.linear.Fresh() > stormBytes {
		i.plugin.storms.Add(1)
	}
}

package wasm

import "github.com/wardlet/wardlet/core/policy/wasm/memory"

// The first write of a guest to a page of an instance is a page fault: 2 µs in
// the kernel that no fuel counts, 20 where the machine is a virtual one whose host
// must find a page first. Nothing interrupts a guest but the end of its slice, so
// an instance gets slices of leastSlice until it is trusted: until calls have
// shown that they write where they wrote before.
const (
	// stormBytes is the most that a calm call writes of pages it had to be given:
	// that takes about as long as two slices.
	stormBytes = 256 << 10
	// calmCalls is after how many calm calls in a row an instance is trusted.
	calmCalls = 8
	// A call of a trusted instance that writes to more pages is a storm. Each of the
	// first mostStorms has all instances of the plugin need stormFactor times as
	// many calm calls from then on.
	stormFactor = 32
	mostStorms  = 4
)

// judge trusts the instance, or no longer, by what its last call wrote.
func (i *instance) judge(last memory.Restored) {
	if last.Fresh > stormBytes {
		// Where memories are put back by Drop the count has the page faults of
		// others in it: that is a reason for doubt, and for no more.
		if i.trusted() && i.linear.Method() != memory.Drop {
			i.plugin.storms.Add(1)
		}
		i.calm = 0
		i.doubt()
		return
	}
	need := i.plugin.needsCalm()
	i.calm = min(i.calm, need) + 1
	switch {
	case last.Dropped > 0 && i.linear.Method() == memory.Scan:
		i.doubt() // each page will be a fault again
	case i.calm > need:
		i.tank.most = mostSlice
	default:
		i.tank.most = leastSlice
	}
}

// trusted says that the last call could have long slices.
func (i *instance) trusted() bool { return i.tank.most > leastSlice }

// doubt has the next call get short slices. If it is calm, those after it get
// what they got before.
func (i *instance) doubt() { i.tank.slice, i.tank.most = leastSlice, leastSlice }

// needsCalm is how many calm calls in a row the plugin's instances must show.
func (p *Plugin) needsCalm() int {
	need := calmCalls
	for range min(p.storms.Load(), mostStorms) {
		need *= stormFactor
	}
	return need
}

// judgeLost is judge for an instance that is thrown away: its last call may have
// written much before it trapped, or let its memory grow.
func (i *instance) judgeLost() {
	if i.calm > i.plugin.needsCalm() && i.linear.Method() != memory.Drop && i.linear.Wrote() > stormBytes {
		i.plugin.storms.Add(1)
	}
}

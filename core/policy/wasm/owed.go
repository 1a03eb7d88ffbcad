package wasm

import "github.com/wardlet/wardlet/core/policy/wasm/memory"

// What a call does to the memory of its instance, the host does for it in the kernel
// and when it puts the memory back: with a store to each page a call takes many times
// as long as its fuel says. That is known only when the memory is put back after the
// call. So the tenant whose pod the call was about owes it to the pool, and pays with
// its next call. What a calm call touches is for nothing.
const (
	// hostPage is a page of the system's.
	hostPage = 4 << 10
	// freshFuel is what a page takes that a call had to be given, and that may be
	// dropped afterwards, copiedFuel one that is copied back: 3 to 3.5 and 0.2 to
	// 0.3 µs in BenchmarkPages, at 0.5 ns a unit.
	freshFuel  = 6000
	copiedFuel = 500
)

// owed is what tenants owe a plugin's pool, in units of fuel; nil for nothing. There
// is no entry of who owes nothing.
type owed map[string]int64

// owe has the tenant of an instance's last call owe what that left to be done.
func (l *pool) owe(i *instance) {
	fuel := i.owes
	i.owes = 0
	if fuel == 0 || i.tenant == noTenant {
		return
	}
	if l.owed == nil {
		l.owed = owed{}
	}
	l.owed[i.tenant] += fuel
}

// pay returns what a tenant owes, which it owes no longer then.
func (o owed) pay(tenant string) (fuel int64) {
	if len(o) == 0 {
		return 0
	}
	fuel = o[tenant]
	delete(o, tenant)
	return fuel
}

// bill is what the last call owes after its memory was put back.
func (i *instance) bill(last memory.Restored) {
	i.owes = i.touched(last.Fresh)
	// A plugin of the operator is asked about all tenants' pods: what one of them has
	// written is copied back after the calls of all others, too.
	if i.plugin.longest == tenantSlice {
		i.owes += beyondCalm(last.Copied) * copiedFuel
	}
}

// touched is what it costs that a call had to be given so many bytes of pages. Where
// memories are put back in another way, what counts them counts more than the call's.
func (i *instance) touched(fresh int) int64 {
	if i.linear.Method() != memory.Scan {
		return 0
	}
	return beyondCalm(fresh) * freshFuel
}

// beyondCalm is how many pages bytes are, beside those of a calm call.
func beyondCalm(bytes int) int64 { return int64(max(bytes-stormBytes, 0) / hostPage) }

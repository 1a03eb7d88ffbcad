package wasm

import "github.com/wardlet/wardlet/core/policy/wasm/memory"

// When a call writes to memory, the kernel works for it, and so does the host when
// it resets the memory. A call that stores to each page takes many times as long as
// its fuel suggests. The cost is known only when the memory is reset after the
// call. So the tenant of the pod that the call was about owes it to the pool, and
// pays with its next call. The pages that a calm call touches are free.
const (
	// hostPage is the size of a page of the system.
	hostPage = 4 << 10
	// freshFuel is the cost of a page that the call newly got, including that the
	// page may be dropped afterwards. copiedFuel is the cost of a page that is
	// copied back. In BenchmarkPages a new page took 3 to 3.5 µs and a copied page
	// 0.2 to 0.3 µs. A unit of fuel is 0.5 ns.
	freshFuel  = 6000
	copiedFuel = 500
)

// owed is what tenants owe a plugin's pool, in units of fuel. A tenant that owes
// nothing has no entry.
type owed map[string]int64

// owe adds what the last call of an instance left unpaid to the debt of its tenant.
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

// pay returns what a tenant owes, and removes the debt.
func (o owed) pay(tenant string) (fuel int64) {
	if len(o) == 0 {
		return 0
	}
	fuel = o[tenant]
	delete(o, tenant)
	return fuel
}

// bill sets what the last call owes, after its memory was reset.
func (i *instance) bill(last memory.Restored) {
	i.owes = i.touched(last.Fresh)
	// A plugin of the operator is asked about all tenants' pods. Pages that a call
	// about one tenant wrote to are copied back after calls about all others, too,
	// so no tenant pays for them.
	if i.plugin.longest == tenantSlice {
		i.owes += beyondCalm(last.Copied) * copiedFuel
	}
}

// touched returns the cost of the pages that a call newly got, in units of fuel.
// fresh is their size in bytes. It returns 0 unless the memory is reset by Scan,
// because otherwise fresh also counts page faults of others.
func (i *instance) touched(fresh int) int64 {
	if i.linear.Method() != memory.Scan {
		return 0
	}
	return beyondCalm(fresh) * freshFuel
}

// beyondCalm returns how many pages the bytes fill, less those that a calm call
// touches.
func beyondCalm(bytes int) int64 { return int64(max(bytes-stormBytes, 0) / hostPage) }

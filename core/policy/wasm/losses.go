package wasm

import (
	"time"

	"github.com/wardlet/wardlet/core/policy/wasm/memory"
)

const (
	// rebuildsPerSecond is how many instances of a plugin may be thrown away and
	// replaced in a second, because making one takes milliseconds. All tenants
	// whose pods break instances share this rate; no other tenant waits because of
	// it.
	rebuildsPerSecond = 10
	// lossesLast is how long a tenant has a share of the rate after its pods broke
	// an instance.
	lossesLast = time.Minute
)

// losses are the times at which instances were thrown away after calls about the
// pods of one tenant. It holds the last rebuildsPerSecond of them.
type losses struct {
	at    [rebuildsPerSecond]time.Time
	count int
}

func (l *losses) add(now time.Time) {
	l.at[l.count%rebuildsPerSecond] = now
	l.count++
}

// since returns the time of the n-th last loss.
func (l *losses) since(n int) time.Time { return l.at[(l.count-n)%rebuildsPerSecond] }

// tooMany reports whether a tenant has used up its share of the rate, if so many
// tenants share it. A share is a number of losses in a second; if that would be
// less than one, it is one loss in correspondingly more time.
func (l *losses) tooMany(now time.Time, sharing int) bool {
	n := max(rebuildsPerSecond/sharing, 1)
	share := time.Duration(n*sharing) * time.Second / rebuildsPerSecond
	return l.count >= n && now.Sub(l.since(n)) < share
}

// mayAsk reports whether the pods of a tenant have not broken too many instances.
// Tenants whose pods break instances wait for their share of new ones; all others
// do not wait.
func (l *pool) mayAsk(tenant string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.losses[tenant] == nil {
		return true
	}
	now := l.now()
	for name, lost := range l.losses {
		if now.Sub(lost.since(1)) >= lossesLast {
			delete(l.losses, name)
		}
	}
	lost := l.losses[tenant]
	return lost == nil || !lost.tooMany(now, len(l.losses))
}

// lost records that an instance is thrown away after a call about a tenant's pod.
func (l *pool) lost(tenant string) {
	if tenant == noTenant {
		return
	}
	if l.losses == nil {
		l.losses = map[string]*losses{}
	}
	if l.losses[tenant] == nil {
		l.losses[tenant] = &losses{}
	}
	l.losses[tenant].add(l.now())
}

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

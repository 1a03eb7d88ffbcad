package wasm

import "time"

const (
	// rebuildsPerSecond is how many instances of a plugin may be thrown away and made
	// anew: making one takes milliseconds. All tenants whose pods break them share
	// these, and no other tenant waits for them.
	rebuildsPerSecond = 10
	// lossesLast is for how long a tenant shares them after its pods broke one.
	lossesLast = time.Minute
)

// losses are when instances were thrown away that had been asked about the pods of
// one tenant, the last rebuildsPerSecond.
type losses struct {
	at    [rebuildsPerSecond]time.Time
	count int
}

func (l *losses) add(now time.Time) {
	l.at[l.count%rebuildsPerSecond] = now
	l.count++
}

// since is when the last but so many were.
func (l *losses) since(n int) time.Time { return l.at[(l.count-n)%rebuildsPerSecond] }

// tooMany says that the tenant had its share, one of so many: as many as come in a
// second, or where that is less than one, one in as long as it takes.
func (l *losses) tooMany(now time.Time, sharing int) bool {
	n := max(rebuildsPerSecond/sharing, 1)
	share := time.Duration(n*sharing) * time.Second / rebuildsPerSecond
	return l.count >= n && now.Sub(l.since(n)) < share
}

// mayAsk says that the pods of a tenant have not broken too many instances: who
// breaks them waits, for itself and for others that do, and all others get one.
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

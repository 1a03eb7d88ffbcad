package wasm

import "time"

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

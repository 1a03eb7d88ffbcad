package wasm

import "time"

// rebuildsPerSecond is how many instances of a plugin the pods of one tenant may
// have it throw away and make anew: making one takes milliseconds.
const rebuildsPerSecond = 10

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

// tooMany says that rebuildsPerSecond of them were in the last second.
func (l *losses) tooMany(now time.Time) bool {
	return l.count >= rebuildsPerSecond && now.Sub(l.at[l.count%rebuildsPerSecond]) < time.Second
}

// mayAsk says that the pods of a tenant have not broken too many instances: who
// breaks them waits for itself, and all others get an instance.
func (l *pool) mayAsk(tenant string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	lost := l.losses[tenant]
	return lost == nil || !lost.tooMany(l.now())
}

// lost takes in that an instance is thrown away after a call about a tenant's pod.
func (l *pool) lost(tenant string) {
	if tenant == nobody {
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

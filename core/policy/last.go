package policy

import (
	"container/list"
	"sync"
)

// maxLasts is how many verdicts are kept, of all policies together.
const maxLasts = 4096

// lasts are the newest verdicts that policies gave on instances of pods, for
// on_error = "last_verdict". Those that were not used for longest go first. It
// is safe for concurrent use, and nil where nobody keeps any.
type lasts struct {
	mu    sync.Mutex
	known map[lastKey]*list.Element
	// order is by use, the newest first.
	order list.List
}

// lastKey is a policy, by whose it is and its name, and an instance.
type lastKey struct{ tenant, policy, instance string }

// lastEntry is an element of the order.
type lastEntry struct {
	lastKey
	opinion opinion
}

func (l *lasts) put(p *policy, instance string, o *opinion) {
	if l == nil || instance == "" || p.OnError != lastVerdict {
		return
	}
	key := lastKey{p.tenant, p.Name, instance}
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.known[key]; e != nil {
		e.Value = lastEntry{key, *o}
		l.order.MoveToFront(e)
		return
	}
	if l.known == nil {
		l.known = map[lastKey]*list.Element{}
	}
	l.known[key] = l.order.PushFront(lastEntry{key, *o})
	if l.order.Len() > maxLasts {
		oldest, _ := l.order.Remove(l.order.Back()).(lastEntry)
		delete(l.known, oldest.lastKey)
	}
}

func (l *lasts) get(p *policy, instance string) (opinion, bool) {
	if l == nil || instance == "" {
		return opinion{}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.known[lastKey{p.tenant, p.Name, instance}]
	if e == nil {
		return opinion{}, false
	}
	l.order.MoveToFront(e)
	entry, _ := e.Value.(lastEntry)
	return entry.opinion, true
}

package pleg

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// Cache holds the newest observation of every pod. What it returns is
// shared: it is read, never changed. It is safe for concurrent use.
//
// An answer is as new as the inspection it comes from, or as the last list
// that showed the pod unchanged since. The time of a list alone says only
// that pods which are not in it do not exist: a pod that is in the list but
// could not be inspected yet has no newer answer.
type Cache struct {
	mu      sync.Mutex
	entries map[types.UID]*entry
	list    []status.ObservedPod
	listAt  time.Time
	// uninspected are the pods without an entry of which list does not say that they
	// do not exist.
	uninspected map[types.UID]bool
	merged      []status.ObservedPod        // what Pods returns; nil: to be made
	waiters     map[types.UID]chan struct{} // closed and dropped at the next news
	// request asks for an inspection of a pod that is later than a time; nil: there
	// are none.
	request func(types.UID, time.Time)
}

type entry struct {
	pod status.ObservedPod
	err error
	// seen is when the inspection was begun that pod comes from.
	seen time.Time
	// at is the time up to which pod and err hold.
	at time.Time
}

// NewCache makes an empty cache.
func NewCache() *Cache {
	return &Cache{entries: map[types.UID]*entry{}, uninspected: map[types.UID]bool{}, waiters: map[types.UID]chan struct{}{}}
}

// setRequest sets what asks for an inspection of a pod that GetNewerThan waits for.
func (c *Cache) setRequest(ask func(types.UID, time.Time)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.request = ask
}

// Get is the last observation of a pod, with the error of its last inspection
// if that failed. It never blocks. A pod that is not known has only its UID.
func (c *Cache) Get(uid types.UID) (status.ObservedPod, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[uid]; ok {
		return e.pod, e.err
	}
	return status.ObservedPod{UID: uid}, nil
}

// GetNewerThan is like Get, but waits until the answer is newer than t. Where
// it has to wait it has the pod inspected, and does not depend on the next
// list. It fails with the error of the inspection, or of the context when that
// ends first; what is new enough already is given even then.
func (c *Cache) GetNewerThan(ctx context.Context, uid types.UID, t time.Time) (status.ObservedPod, error) {
	asked := ctx.Err() != nil
	for {
		c.mu.Lock()
		if e, ok := c.answer(uid, t); ok {
			c.mu.Unlock()
			return e.pod, e.err
		}
		news, ok := c.waiters[uid]
		if !ok {
			news = make(chan struct{})
			c.waiters[uid] = news
		}
		ask := c.request
		c.mu.Unlock()
		if !asked && ask != nil {
			ask(uid, t)
		}
		asked = true

		select {
		case <-news:
		case <-ctx.Done():
			return status.ObservedPod{UID: uid}, fmt.Errorf("waiting for the runtime's view of pod %s: %w", uid, ctx.Err())
		}
	}
}

// answer is what is known of a pod that is newer than t, if anything is.
func (c *Cache) answer(uid types.UID, t time.Time) (entry, bool) {
	if e, ok := c.entries[uid]; ok {
		return *e, e.at.After(t)
	}
	return entry{pod: status.ObservedPod{UID: uid}}, !c.uninspected[uid] && c.listAt.After(t)
}

// newer reports whether GetNewerThan would not have to wait.
func (c *Cache) newer(uid types.UID, t time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.answer(uid, t)
	return ok
}

// Set stores an inspection that was begun at t.
func (c *Cache) Set(p status.ObservedPod, t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries[p.UID] = &entry{pod: p, seen: t, at: t}
	c.merged = nil
	c.wake(p.UID)
}

// SetError stores that an inspection begun at t has failed. The last good
// observation stays.
func (c *Cache) SetError(uid types.UID, err error, t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := &entry{pod: status.ObservedPod{UID: uid}, err: err, at: t}
	if old, ok := c.entries[uid]; ok {
		e.pod, e.seen = old.pod, old.seen
	}
	c.entries[uid] = e
	c.wake(uid)
}

// SetObserved says that what is known of a pod still held at t.
func (c *Cache) SetObserved(uid types.UID, t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[uid]; ok {
		c.observed(uid, e, t)
	}
}

func (c *Cache) observed(uid types.UID, e *entry, t time.Time) {
	if t.After(e.at) {
		e.at = t
		c.wake(uid)
	}
}

// Delete forgets a pod. Who waits for it is answered by the next list.
func (c *Cache) Delete(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.entries, uid)
	c.uninspected[uid] = true
	c.merged = nil
}

// SetList stores a full list that was begun at t. It comes after Delete and
// SetObserved for the pods of that list.
func (c *Cache) SetList(pods []status.ObservedPod, t time.Time) { c.setList(pods, nil, t) }

// setList is SetList and, for the pods that are held, SetObserved. held may be
// shorter than pods.
func (c *Cache) setList(pods []status.ObservedPod, held []bool, t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list, c.listAt, c.merged = pods, t, nil
	clear(c.uninspected)
	for i := range pods {
		uid := pods[i].UID
		e, ok := c.entries[uid]
		if !ok {
			c.uninspected[uid] = true
		} else if i < len(held) && held[i] {
			c.observed(uid, e, t)
		}
	}
	for uid := range c.waiters {
		if c.entries[uid] == nil && !c.uninspected[uid] {
			c.wake(uid)
		}
	}
}

func (c *Cache) wake(uid types.UID) {
	if len(c.waiters) == 0 {
		return
	}
	if news, ok := c.waiters[uid]; ok {
		close(news)
		delete(c.waiters, uid)
	}
}

// Pods are all pods there are: those of the last full list, and what was seen
// of each pod since, in place of what the list says. The time is when that
// list was begun, zero if there was none yet; then there are no pods.
func (c *Cache) Pods() ([]status.ObservedPod, time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.listAt.IsZero() {
		return nil, c.listAt
	}
	if c.merged == nil {
		c.merged = c.merge()
	}
	return c.merged, c.listAt
}

// merge lays what was inspected since the list over it. Pods that are new come
// first, for the newest do.
func (c *Cache) merge() []status.ObservedPod {
	since := map[types.UID]*status.ObservedPod{}
	for uid, e := range c.entries {
		if e.seen.After(c.listAt) {
			since[uid] = &e.pod
		}
	}
	if len(since) == 0 && c.list != nil {
		return c.list
	}
	out := make([]status.ObservedPod, 0, len(c.list)+len(since))
	for i := range c.list {
		p := &c.list[i]
		if seen, ok := since[p.UID]; ok {
			p = seen
			delete(since, p.UID)
		}
		out = appendPod(out, p)
	}
	var fresh []status.ObservedPod
	for _, p := range since {
		fresh = appendPod(fresh, p)
	}
	slices.SortFunc(fresh, func(a, b status.ObservedPod) int { return cmp.Compare(a.UID, b.UID) })
	return append(fresh, out...)
}

// appendPod appends a pod unless nothing is left of it.
func appendPod(out []status.ObservedPod, p *status.ObservedPod) []status.ObservedPod {
	if len(p.Sandboxes) == 0 && len(p.Containers) == 0 {
		return out
	}
	return append(out, *p)
}

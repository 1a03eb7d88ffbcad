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

// Cache holds the newest observation of every pod. The returned values are shared: callers read
// them and never change them. It is safe for concurrent use.
//
// An observation is as new as its inspection, or as the last list that showed the pod unchanged
// since. The time of a list alone proves only that pods which are not in it do not exist: for a pod
// that is in the list but could not be inspected yet, there is no newer observation.
type Cache struct {
	mu      sync.Mutex
	entries map[types.UID]*entry
	list    []status.ObservedPod
	listAt  time.Time
	// uninspected are the pods without an entry that the list does not prove to be gone.
	uninspected map[types.UID]bool
	merged      []status.ObservedPod        // the cached result of Pods, nil if it has to be computed
	waiters     map[types.UID]chan struct{} // closed and deleted when the pod has something new
	// request asks for an inspection of a pod that is newer than a time, nil if inspections are not
	// possible.
	request func(types.UID, time.Time)
}

type entry struct {
	pod status.ObservedPod
	err error
	// seen is when the inspection that returned pod began.
	seen time.Time
	// at is the time up to which pod and err are known to be true.
	at time.Time
}

// NewCache makes an empty cache.
func NewCache() *Cache {
	return &Cache{entries: map[types.UID]*entry{}, uninspected: map[types.UID]bool{}, waiters: map[types.UID]chan struct{}{}}
}

// setRequest sets the function that requests an inspection of a pod for which GetNewerThan waits.
func (c *Cache) setRequest(ask func(types.UID, time.Time)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.request = ask
}

// Get returns the last observation of a pod, and the error of its last inspection if that failed.
// It never blocks. For an unknown pod it returns a pod with only its UID.
func (c *Cache) Get(uid types.UID) (status.ObservedPod, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[uid]; ok {
		return e.pod, e.err
	}
	return status.ObservedPod{UID: uid}, nil
}

// GetNewerThan is like Get, but waits until the observation is newer than t. If it has to wait, it
// requests an inspection of the pod and does not depend on the next list. It fails with the error
// of the inspection, or with that of the context if the context is done first. An observation that
// is new enough is returned even if the context is done.
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

// answer returns what is known about a pod, and whether it is newer than t.
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

// SetError stores that an inspection begun at t has failed. The last successful observation is
// kept.
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

// SetObserved records that the observation of a pod was still true at t.
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

// Delete forgets a pod. Callers that wait for it get an answer from the next list.
func (c *Cache) Delete(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.entries, uid)
	c.uninspected[uid] = true
	c.merged = nil
}

// SetList stores a full list that was begun at t. It has to be called after Delete and SetObserved
// for the pods of that list.
func (c *Cache) SetList(pods []status.ObservedPod, t time.Time) { c.setList(pods, nil, t) }

// setList is SetList and, for each pod whose element of held is true, SetObserved. held may be
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

// Pods returns all pods that exist: those of the last full list, each replaced by a newer
// inspection if there is one. The time is when that list was begun, zero if there was none yet;
// then there are no pods.
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

// merge returns the list with newer inspections applied. New pods come first, because the newest
// pods do in a list.
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

package pleg

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// Cache holds the newest observation of every pod. What it gives out is
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
	listed  map[types.UID]bool // the pods in list
	listAt  time.Time
	waiters map[types.UID]chan struct{} // closed and dropped at the next news
}

type entry struct {
	pod status.ObservedPod
	err error
	// at is the time up to which pod and err hold.
	at time.Time
}

// NewCache makes an empty cache.
func NewCache() *Cache {
	return &Cache{entries: map[types.UID]*entry{}, waiters: map[types.UID]chan struct{}{}}
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

// GetNewerThan is like Get, but waits until the answer is newer than t. It
// fails with the error of the inspection, or of the context when that ends
// first.
func (c *Cache) GetNewerThan(ctx context.Context, uid types.UID, t time.Time) (status.ObservedPod, error) {
	for {
		c.mu.Lock()
		if e, ok := c.entries[uid]; ok {
			if e.at.After(t) {
				c.mu.Unlock()
				return e.pod, e.err
			}
		} else if !c.listed[uid] && c.listAt.After(t) {
			c.mu.Unlock()
			return status.ObservedPod{UID: uid}, nil
		}
		news, ok := c.waiters[uid]
		if !ok {
			news = make(chan struct{})
			c.waiters[uid] = news
		}
		c.mu.Unlock()

		select {
		case <-news:
		case <-ctx.Done():
			return status.ObservedPod{UID: uid}, fmt.Errorf("waiting for the runtime's view of pod %s: %w", uid, ctx.Err())
		}
	}
}

// Pods is the last full list and the time it was begun, zero if there was
// none yet.
func (c *Cache) Pods() ([]status.ObservedPod, time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.list, c.listAt
}

// Set stores an inspection that was begun at t.
func (c *Cache) Set(p status.ObservedPod, t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries[p.UID] = &entry{pod: p, at: t}
	c.wake(p.UID)
}

// SetError stores that an inspection begun at t has failed. The last good
// observation stays.
func (c *Cache) SetError(uid types.UID, err error, t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := &entry{pod: status.ObservedPod{UID: uid}, err: err, at: t}
	if old, ok := c.entries[uid]; ok {
		e.pod = old.pod
	}
	c.entries[uid] = e
	c.wake(uid)
}

// SetObserved says that what is known of a pod still held at t.
func (c *Cache) SetObserved(uid types.UID, t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[uid]; ok && t.After(e.at) {
		e.at = t
		c.wake(uid)
	}
}

// Delete forgets a pod. Who waits for it is answered by the next list.
func (c *Cache) Delete(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.entries, uid)
}

// SetList stores a full list that was begun at t. It comes after Delete and
// SetObserved for the pods of that list.
func (c *Cache) SetList(pods []status.ObservedPod, t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list, c.listAt = pods, t
	c.listed = make(map[types.UID]bool, len(pods))
	for i := range pods {
		c.listed[pods[i].UID] = true
	}
	for uid := range c.waiters {
		if c.entries[uid] == nil && !c.listed[uid] {
			c.wake(uid)
		}
	}
}

func (c *Cache) wake(uid types.UID) {
	if news, ok := c.waiters[uid]; ok {
		close(news)
		delete(c.waiters, uid)
	}
}

package status

import (
	"container/list"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// maxReasons bounds a ReasonCache, as in a kubelet.
const maxReasons = 1000

// ReasonCache remembers why the last try to start a container failed. It
// holds 1000 entries; beyond, the one that was not used for the longest time
// goes. Nothing of it survives a restart. It is safe for concurrent use.
type ReasonCache struct {
	mu      sync.Mutex
	entries map[reasonKey]*list.Element
	used    list.List // of reasonEntry, last used first
}

type reasonKey struct {
	uid       types.UID
	container string
}

type reasonEntry struct {
	key    reasonKey
	reason Reason
}

// NewReasonCache makes an empty cache.
func NewReasonCache() *ReasonCache {
	return &ReasonCache{entries: map[reasonKey]*list.Element{}}
}

// Set remembers why a container could not be started.
func (c *ReasonCache) Set(uid types.UID, container string, r Reason) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := reasonKey{uid, container}
	if e, ok := c.entries[key]; ok {
		e.Value = reasonEntry{key, r}
		c.used.MoveToFront(e)
		return
	}
	c.entries[key] = c.used.PushFront(reasonEntry{key, r})
	if len(c.entries) > maxReasons {
		c.remove(c.used.Back())
	}
}

// Remove forgets a container: it has been started.
func (c *ReasonCache) Remove(uid types.UID, container string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[reasonKey{uid, container}]; ok {
		c.remove(e)
	}
}

// Get is why a container could not be started; false if nothing is known.
func (c *ReasonCache) Get(uid types.UID, container string) (Reason, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[reasonKey{uid, container}]
	if !ok {
		return Reason{}, false
	}
	c.used.MoveToFront(e)
	return e.Value.(reasonEntry).reason, true
}

func (c *ReasonCache) remove(e *list.Element) {
	c.used.Remove(e)
	delete(c.entries, e.Value.(reasonEntry).key)
}

package status

import (
	"container/list"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Reason says why a container is not running although it should be: one of
// the waiting reasons a kubelet reports, with detail.
type Reason struct {
	Reason  string
	Message string
}

// Fault is an error with the waiting reason a kubelet reports for it
// (ErrImagePull, CrashLoopBackOff, CreateContainerConfigError, …).
type Fault struct {
	// Reason is CamelCase and becomes the container's waiting reason.
	Reason string
	// RetryAt says when trying again makes sense; zero: as usual.
	RetryAt time.Time
	Err     error
}

// Error renders "Reason: detail".
func (f *Fault) Error() string { return f.Reason + ": " + f.Err.Error() }

// Unwrap returns the detail.
func (f *Fault) Unwrap() error { return f.Err }

// ReasonOf splits err into the reason and message of a waiting container.
// For an error that is no Fault it returns fallback and its text.
func ReasonOf(err error, fallback string) Reason {
	if f, ok := errors.AsType[*Fault](err); ok {
		return Reason{Reason: f.Reason, Message: f.Err.Error()}
	}
	return Reason{Reason: fallback, Message: err.Error()}
}

// ErrNoEvents says that a runtime does not report its events.
var ErrNoEvents = errors.New("the runtime has no event stream")

// ErrRuntimeUnavailable says that the runtime could not be called: its answer is not known.
var ErrRuntimeUnavailable = errors.New("the runtime is away")

// ErrContainerStuck says that the runtime shows a container as ended but does not remove it:
// it has lost track of the container. No call to the runtime helps, only its restart does.
var ErrContainerStuck = errors.New("the runtime has lost track of a container, which it shows as ended and does not let go of; " +
	"restart the runtime when you can, pods run on meanwhile")

// ReasonCache remembers why the last try to start a container failed. It
// holds 1000 entries; beyond, the one that was not used for the longest time
// goes. Nothing of it survives a restart. It is safe for concurrent use.
type ReasonCache struct {
	mu      sync.Mutex
	entries map[reasonKey]*list.Element
	used    list.List // of reasonEntry, last used first
}

// maxReasons bounds a ReasonCache, as in a kubelet.
const maxReasons = 1000

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

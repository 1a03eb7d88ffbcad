package status

import (
	"container/list"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Reason is why a container is not running although it should be: a waiting reason that a kubelet
// reports, with a message.
type Reason struct {
	Reason  string
	Message string
}

// Fault is an error with the waiting reason a kubelet reports for it
// (ErrImagePull, CrashLoopBackOff, CreateContainerConfigError, …).
type Fault struct {
	// Reason is CamelCase and becomes the container's waiting reason.
	Reason string
	// RetryAt is when it makes sense to try again, zero for the usual delay.
	RetryAt time.Time
	Err     error
}

// Error returns "Reason: detail".
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

// ErrNoEvents means that a runtime does not report its events.
var ErrNoEvents = errors.New("the runtime has no event stream")

// ErrRuntimeUnavailable means that the runtime could not be called: its answer is not known.
var ErrRuntimeUnavailable = errors.New("the runtime is away")

// ErrContainerStuck means that the runtime shows a container as exited but does not remove it,
// because it has lost track of the container. No call to the runtime helps, only a restart of the
// runtime.
var ErrContainerStuck = errors.New("the runtime has lost track of a container, which it shows as ended and does not let go of; " +
	"restart the runtime when you can, pods run on meanwhile")

// ReasonCache keeps why the last try to start a container failed. It holds 1000 entries; if it is
// full, the entry that was unused for the longest time is removed. It does not survive a restart.
// It is safe for concurrent use.
type ReasonCache struct {
	mu      sync.Mutex
	entries map[reasonKey]*list.Element
	used    list.List // of reasonEntry, the last used first
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

// Set stores why a container could not be started.
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

// Remove forgets a container because it has been started.
func (c *ReasonCache) Remove(uid types.UID, container string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[reasonKey{uid, container}]; ok {
		c.remove(e)
	}
}

// Get returns why a container could not be started, false if that is not known.
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

package gc

import (
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// Ended reports that a pod has ended: what may be removed of it is removed at once, without waiting
// for a pass. It does not block.
func (c *Collector) Ended(uid types.UID) {
	c.mu.Lock()
	c.due[uid] = true
	c.mu.Unlock()
	signal(c.wake)
}

func (c *Collector) workOnDue() {
	c.mu.Lock()
	due := c.due
	c.due = map[types.UID]bool{}
	c.mu.Unlock()
	for uid := range due {
		c.begin(job{uid: uid})
	}
}

// look finds, from what is known already, what a pass would find: dead instances beyond the limits,
// and pods that have become removable, for example because their source was seen. It makes no call
// unless there is something to do.
func (c *Collector) look() {
	known := c.cfg.Known()
	for i := range known {
		p, there := c.stillThere(&known[i])
		if !there || !c.rested(p.UID) {
			continue
		}
		if !p.Active() && (c.cfg.Pods.Removable(p.UID, p.Source()) || c.cfg.Over(p.UID)) || c.trimmable(p) {
			c.rest(p.UID)
			c.begin(job{uid: p.UID})
		}
	}
	c.mu.Lock()
	left := maps.Clone(c.left)
	c.mu.Unlock()
	for uid, source := range left {
		if c.rested(uid) && c.cfg.Pods.Removable(uid, source) {
			c.rest(uid)
			c.begin(job{uid: uid})
		}
	}
}

// rested reports whether a look may check a pod. Objects that a task has removed may still be known
// for a while, and objects that it could not remove are tried again later.
func (c *Collector) rested(uid types.UID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().After(c.rests[uid])
}

// rest makes looks skip a pod for a while.
func (c *Collector) rest(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rests[uid] = time.Now().Add(retryInterval)
}

// forgetRests removes the expired entries of rests. The caller holds mu.
func (c *Collector) forgetRests() {
	now := time.Now()
	maps.DeleteFunc(c.rests, func(_ types.UID, until time.Time) bool { return now.After(until) })
}

// job is the work for one pod.
type job struct {
	uid types.UID
	// listed is false for a job that uses what was last seen of the pod. Otherwise observed is the
	// pod from the list, nil if the runtime does not have it.
	listed   bool
	observed *status.ObservedPod
	// over are the containers to remove because the node has too many dead ones.
	over map[string]bool
	// emptied is called at the end of a task that removes what a pod has left although it is still
	// shown; nil for other tasks.
	emptied func()
}

// begin starts a task and reports whether it did. If the pod has a task already, another one follows
// it.
func (c *Collector) begin(j job) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return false
	}
	if _, busy := c.busy[j.uid]; busy {
		c.busy[j.uid] = true
		return false
	}
	c.busy[j.uid] = false
	c.tasks.Go(func() { c.task(j) })
	return true
}

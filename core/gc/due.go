package gc

import (
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// Ended says that a pod is over: what may go of it goes at once, without waiting
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

// look finds what passes would find, by what is known already: dead instances
// beyond the limits, pods that have become removable, as when their source is
// heard. It makes no call unless there is something to do.
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

// rested reports whether a look may find something of a pod. What a task has
// removed may be known a while longer, and what it could not is tried again later.
func (c *Collector) rested(uid types.UID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().After(c.rests[uid])
}

// rest has looks leave a pod alone for a while.
func (c *Collector) rest(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rests[uid] = time.Now().Add(retryInterval)
}

// forgetRests drops what is over of rests. The caller holds mu.
func (c *Collector) forgetRests() {
	now := time.Now()
	maps.DeleteFunc(c.rests, func(_ types.UID, until time.Time) bool { return now.After(until) })
}

// job is what there is to do for a pod.
type job struct {
	uid types.UID
	// listed is false for a job that uses what was last seen of the pod. Otherwise
	// observed is the pod, nil if the runtime does not know it.
	listed   bool
	observed *status.ObservedPod
	// over are the containers that go because the node has too many dead ones.
	over map[string]bool
}

// begin starts a task, unless the pod has one, which then is made up for.
func (c *Collector) begin(j job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return
	}
	if _, busy := c.busy[j.uid]; busy {
		c.busy[j.uid] = true
		return
	}
	c.busy[j.uid] = false
	c.tasks.Go(func() { c.task(j) })
}

package policy

import (
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

const (
	// paceWindow is how long a denial makes the next ones wait.
	paceWindow = 10 * time.Minute
	// A denial waits for minPace, and each further one twice as long up to maxPace.
	minPace = 10 * time.Second
	maxPace = 5 * time.Minute
	// maxPaced is how many loops are known at once; that which was quiet for longest
	// is forgotten.
	maxPaced = 4096
)

// pacing slows down controllers that make a new pod as soon as one is denied,
// which that will be, too. The first denial counts at once. Each further one is
// shown as a hold before it does. It is safe for concurrent use.
type pacing struct {
	mu    sync.Mutex
	loops map[loopKey]*loop
}

// loopKey is a controller, and why its pods are denied: the policy, with whose it
// is, and the reason.
type loopKey struct {
	controller             types.UID
	tenant, policy, reason string
}

// loop is a controller whose pods are denied for one reason.
type loop struct {
	last time.Time
	// denied counts the denials that had to wait.
	denied int
	// due are the pods that wait, and until when.
	due map[types.UID]time.Time
}

// pace gives a denial of a new pod of a controller, or a hold that comes before
// it. Other verdicts are left as they are.
func (c *pacing) pace(q *pod.Question, v pod.Verdict, now time.Time) pod.Verdict {
	controller := metav1.GetControllerOfNoCopy(q.Pod)
	if v.Answer != pod.Deny || q.Op != pod.Add || controller == nil {
		return v
	}
	key := loopKey{controller.UID, v.Tenant, v.Policy, v.Reason}
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.loops[key]
	if l == nil || now.Sub(l.last) >= paceWindow {
		c.make(key).last = now
		return v
	}
	for uid, due := range l.due {
		if now.Sub(due) >= paceWindow {
			delete(l.due, uid) // it is gone, or policy has let it pass
		}
	}
	due, waits := l.due[q.Pod.UID]
	if !waits {
		due = now.Add(min(minPace<<min(l.denied, 10), maxPace))
		l.denied++
		l.last, l.due[q.Pod.UID] = now, due
	}
	left := due.Sub(now)
	if left <= 0 {
		delete(l.due, q.Pod.UID)
		l.last = now
		return v
	}
	v.Answer, v.RetryAfter = pod.Hold, left
	v.Message += fmt.Sprintf(" (denied in %s: other pods of %s %s were denied for it less than %s ago)",
		left.Round(time.Second), controller.Kind, controller.Name, paceWindow)
	return v
}

// make begins to know a loop, and forgets those that are over.
func (c *pacing) make(key loopKey) *loop {
	if c.loops == nil {
		c.loops = map[loopKey]*loop{}
	}
	if _, known := c.loops[key]; !known && len(c.loops) >= maxPaced {
		var quiet loopKey
		for k, l := range c.loops {
			if o := c.loops[quiet]; o == nil || l.last.Before(o.last) {
				quiet = k
			}
		}
		delete(c.loops, quiet)
	}
	l := &loop{due: map[types.UID]time.Time{}}
	c.loops[key] = l
	return l
}

// Package pacing slows down controllers that create a new pod as soon as one is denied.
//
// Comes in: a verdict about a pod. Goes out: the same verdict, or a hold that precedes the denial.
// The package owns no goroutine; Pacing is safe for concurrent use.
package pacing

import (
	"container/list"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/backoff"
)

const (
	// paceWindow is the time for which a denial delays the next denials.
	paceWindow = 10 * time.Minute
	// maxPaced is the maximum number of loops for the pods of one tenant. A further loop replaces the
	// one that was quiet for longest.
	maxPaced = 4096
	// maxWaiting is the maximum number of waiting denials for the pods of one tenant. A further one
	// replaces the one that has waited for longest.
	maxWaiting = 4096
)

// denialDelays are the delays of the second and further denials.
var denialDelays = backoff.Exponential{Min: 10 * time.Second, Max: 5 * time.Minute}

// Pacing slows down controllers that create a new pod as soon as one is denied, although the new
// pod will be denied, too. The first denial takes effect at once. Each further one is shown as a
// hold first.
type Pacing struct {
	// Tenant returns the tenant of a namespace; nil: all namespaces are the operator's.
	Tenant func(namespace string) string

	mu sync.Mutex
	// paces are the loops by tenant, so that the loops of one tenant never replace those of another.
	paces map[string]*paces
}

// paces are the loops of one tenant's pods.
type paces struct {
	loops map[loopKey]*loop
	// quiet has the loops, beginning with the one that was quiet for longest. waiting has the waiting
	// denials in the order in which they began to wait.
	quiet, waiting *list.List
}

// loopKey is a controller and the reason why its pods are denied: the policy, its tenant, and the
// policy's reason.
type loopKey struct {
	controller             types.UID
	tenant, policy, reason string
}

// loop is a controller whose pods are denied for one reason.
type loop struct {
	key  loopKey
	last time.Time
	// denied counts the denials that had to wait.
	denied int
	// due has the waiting pods by UID; a value is a *wait.
	due map[types.UID]*list.Element
	// at is the loop's element in quiet.
	at *list.Element
}

// wait is a denial that waits.
type wait struct {
	of         *loop
	pod        types.UID
	since, due time.Time
}

// Note begins the text added to the message of a delayed denial.
const Note = " (denied in "

// Pace returns a denial of a controller's new pod, or a hold that precedes the denial. It returns
// other verdicts unchanged.
func (c *Pacing) Pace(q *api.Question, v api.Verdict, now time.Time) api.Verdict {
	controller := metav1.GetControllerOfNoCopy(q.Pod)
	if v.Answer != api.Deny || q.Op != api.Add || controller == nil {
		return v
	}
	key := loopKey{controller.UID, v.Tenant, v.Policy, v.Reason}
	c.mu.Lock()
	defer c.mu.Unlock()
	left := c.of(q.Pod.Namespace).left(key, q.Pod.UID, now)
	if left <= 0 {
		return v
	}
	v.Answer, v.RetryAfter = api.Hold, left
	v.Message += fmt.Sprintf(Note+"%s: other pods of %s %s were denied for it less than %s ago)",
		left.Round(time.Second), controller.Kind, controller.Name, paceWindow)
	return v
}

// of returns the loops of the tenant that has the namespace.
func (c *Pacing) of(namespace string) *paces {
	tenant := ""
	if c.Tenant != nil {
		tenant = c.Tenant(namespace)
	}
	p := c.paces[tenant]
	if p == nil {
		if c.paces == nil {
			c.paces = map[string]*paces{}
		}
		p = &paces{map[loopKey]*loop{}, list.New(), list.New()}
		c.paces[tenant] = p
	}
	return p
}

// left returns how much longer the denial of a pod is delayed, 0 if it takes effect now.
func (p *paces) left(key loopKey, uid types.UID, now time.Time) time.Duration {
	p.expire(now)
	l := p.loops[key]
	if l == nil || now.Sub(l.last) >= paceWindow {
		p.begin(key, now)
		return 0
	}
	e := l.due[uid]
	if e == nil {
		e = p.waiting.PushBack(&wait{l, uid, now, now.Add(denialDelays.Delay(l.denied))})
		l.due[uid] = e
		l.denied++
		p.stir(l, now)
		if p.waiting.Len() > maxWaiting {
			p.passed(p.waiting.Front())
		}
	}
	one, _ := e.Value.(*wait)
	left := one.due.Sub(now)
	if left <= 0 {
		p.passed(e)
		p.stir(l, now)
	}
	return left
}

// expire forgets denials that were not requested again after their delay: the pod is gone, or
// policy has admitted it. It compares the times at which the denials began to wait, and stops at
// the first one that stays.
func (p *paces) expire(now time.Time) {
	for e := p.waiting.Front(); e != nil; e = p.waiting.Front() {
		if one, _ := e.Value.(*wait); now.Sub(one.since) < denialDelays.Max+paceWindow {
			return
		}
		p.passed(e)
	}
}

// passed forgets a waiting denial.
func (p *paces) passed(e *list.Element) {
	one, _ := p.waiting.Remove(e).(*wait)
	delete(one.of.due, one.pod)
}

// stir moves a loop to the end of quiet, so that it is the last to be forgotten.
func (p *paces) stir(l *loop, now time.Time) {
	l.last = now
	p.quiet.MoveToBack(l.at)
}

// begin creates a loop, or replaces it with a new one.
func (p *paces) begin(key loopKey, now time.Time) {
	if l := p.loops[key]; l != nil {
		p.forget(l)
	} else if p.quiet.Len() >= maxPaced {
		l, _ = p.quiet.Front().Value.(*loop)
		p.forget(l)
	}
	l := &loop{key: key, last: now, due: map[types.UID]*list.Element{}}
	l.at = p.quiet.PushBack(l)
	p.loops[key] = l
}

// forget forgets a loop and its waiting denials.
func (p *paces) forget(l *loop) {
	for _, e := range l.due {
		p.waiting.Remove(e)
	}
	p.quiet.Remove(l.at)
	delete(p.loops, l.key)
}

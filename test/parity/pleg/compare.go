package pleg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

func isCanceled(err error) bool { return errors.Is(err, context.Canceled) }

// view is a side's state of a pod.
type view struct {
	containers, sandboxes []part
	addresses             []string
	failed                bool
}

func (v view) String() string {
	if v.failed {
		return "an error"
	}
	return seen(v.containers, v.sandboxes, v.addresses)
}

// comparison is the state of both sides during a history.
type comparison struct {
	world  *world
	ours   *ours
	theirs *theirs
	// pods are all pods of the history, and one that never exists.
	pods  []types.UID
	asked map[types.UID]bool // out of turn, since the last good list
	// gone are the pods that did not exist when they were asked about.
	gone  map[types.UID]bool
	known known
	tally *tally
	// listed is when the last successful list began.
	listed time.Time
}

// compare runs a history and returns an error where the sides differ without a reason. It must run
// in a synctest bubble.
func compare(h *history, t *tally) (err error) {
	w := newWorld()
	c := &comparison{world: w, asked: map[types.UID]bool{}, gone: map[types.UID]bool{}, known: newKnown(), tally: t, pods: h.pods()}
	c.ours, c.theirs = newOurs(w), newTheirs(w)
	defer func() {
		c.ours.stop()
		c.theirs.stop()
	}()
	synctest.Wait()
	c.listed = time.Now()
	n := 0
	for i := range h.steps {
		if err := c.step(&h.steps[i], &n); err != nil {
			return fmt.Errorf("second %d: %w", i+1, err)
		}
	}
	return nil
}

// step runs one second, from just after a list until just after the next.
func (c *comparison) step(s *step, n *int) error {
	time.Sleep(500 * time.Millisecond)
	for _, change := range s.changes {
		*n++
		c.world.apply(change, *n)
	}
	c.world.mu.Lock()
	c.world.listFail = s.listFails
	c.world.mu.Unlock()
	time.Sleep(200 * time.Millisecond)
	for _, uid := range s.asked {
		gone := !c.world.has(uid)
		if gone && s.listFails {
			continue // both sides would learn of it only a second later
		}
		c.asked[uid], c.gone[uid] = true, gone
		c.ours.generator.Refresh(uid)
		c.theirs.generator.RequestRelist(uid)
	}
	time.Sleep(100 * time.Millisecond)
	c.known.note(c, true)
	if err := c.answers("before the list", time.Now()); err != nil {
		return err
	}
	clear(c.gone)
	time.Sleep(200 * time.Millisecond) // the list comes
	synctest.Wait()
	if !s.listFails {
		c.listed = time.Now()
		clear(c.asked)
	}
	return c.afterList(s)
}

func (c *comparison) afterList(s *step) error {
	asked := map[types.UID]bool{}
	for _, uid := range s.asked {
		asked[uid] = true
	}
	c.known.note(c, false)
	if err := c.events(); err != nil {
		return err
	}
	if err := c.inspections(asked); err != nil {
		return err
	}
	c.known.wereAlone = maps.Clone(c.known.alone)
	for _, uid := range c.pods {
		if err := c.known.same(uid, viewOfKubelet(c.theirs.cache.Get(uid)), c.ours.get(uid), c.tally); err != nil {
			return fmt.Errorf("the caches differ in pod %s: %w", uid, err)
		}
	}
	return c.answers("after the list", c.listed)
}

const podSync = "PodSync "

// excused reports whether a pod did not exist when it was asked about, since the last list. Only
// Wardlet looks for the pod then.
func (c *comparison) excused(uid types.UID) bool {
	if c.gone[uid] {
		c.tally.use(requestSeesGone)
	}
	return c.gone[uid]
}

// events compares the events since the last list, pod by pod.
func (c *comparison) events() error {
	theirs, ours := c.theirs.told(), c.ours.told()
	for _, uid := range c.pods {
		want, got := theirs[uid], ours[uid]
		if c.known.wereAlone[uid] && !slices.Contains(want, podSync) {
			got = slices.DeleteFunc(got, func(e string) bool { return e == podSync })
		}
		if !slices.Equal(want, got) {
			return fmt.Errorf("events of pod %s: a kubelet tells %q, wardlet %q", uid, want, got)
		}
		c.tally.events += len(got)
	}
	return nil
}

// inspections compares how often each pod was inspected since the last list.
func (c *comparison) inspections(asked map[types.UID]bool) error {
	theirs, ours := c.theirs.runtime.inspected.take(), c.ours.runtime.inspected.take()
	for _, uid := range c.pods {
		if asked[uid] || c.known.wereAlone[uid] {
			if theirs[uid] != ours[uid] {
				c.tally.use(requestInspects)
			}
			if ours[uid] < theirs[uid] {
				return fmt.Errorf("pod %s was asked about: a kubelet inspects it %d times, wardlet %d times", uid, theirs[uid], ours[uid])
			}
			continue
		}
		if theirs[uid] != ours[uid] {
			return fmt.Errorf("pod %s: a kubelet inspects it %d times, wardlet %d times", uid, theirs[uid], ours[uid])
		}
		c.tally.inspections += ours[uid]
	}
	return nil
}

// answers compares, for several times around at, whether each side answers a request for state
// newer than that time at once, and what it answers.
func (c *comparison) answers(when string, at time.Time) error {
	type question struct {
		uid    types.UID
		at     time.Time
		answer <-chan view
	}
	var questions []question
	now := time.Now()
	for _, uid := range c.pods {
		for _, t := range []time.Time{at.Add(-150 * time.Millisecond), at.Add(-1), at} {
			questions = append(questions, question{uid, t, c.theirs.newer(uid, t)})
		}
	}
	synctest.Wait()
	slices.SortStableFunc(questions, func(a, b question) int { return cmp.Compare(a.uid, b.uid) })
	for _, q := range questions {
		theirs, answered := view{}, false
		select {
		case theirs = <-q.answer:
			answered = true
		default:
		}
		ours, weAnswer := c.ours.newer(q.uid, q.at)
		if c.excused(q.uid) {
			continue
		}
		if answered != weAnswer {
			return fmt.Errorf("%s, of pod %s newer than %s ago: a kubelet answers %v, wardlet %v",
				when, q.uid, now.Sub(q.at), answered, weAnswer)
		}
		c.tally.answers++
		if !answered {
			continue
		}
		if err := c.known.same(q.uid, theirs, ours, c.tally); err != nil {
			return fmt.Errorf("%s, the answers about pod %s differ: %w", when, q.uid, err)
		}
	}
	return nil
}

// tally counts what was compared and what was excused.
type tally struct {
	events, inspections, answers int
	used                         map[string]int
}

func newTally() *tally { return &tally{used: map[string]int{}} }

func (t *tally) use(id string) { t.used[id]++ }

func (t *tally) add(o *tally) {
	t.events += o.events
	t.inspections += o.inspections
	t.answers += o.answers
	for id, n := range o.used {
		t.used[id] += n
	}
}

func (t *tally) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%d events, %d inspections and %d answers of the caches the same", t.events, t.inspections, t.answers)
	for _, id := range slices.Sorted(maps.Keys(t.used)) {
		fmt.Fprintf(&text, "\n  %-28s used %d times", id, t.used[id])
	}
	return text.String()
}

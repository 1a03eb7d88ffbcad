package history

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/test/parity/kubelet"
)

// clock returns the time of the mux: a second per delivery.
type clock struct{ atomic.Int64 }

func (c *clock) now() time.Time { return time.Unix(1_760_000_000+c.Load(), 0).UTC() }

// comparison is the state of both sides during a history.
type comparison struct {
	kubelet *kubelet.PodConfig
	theirs  map[key]*held
	// mixed gets differences and full deliveries. whole gets full deliveries only; it exists in
	// every fourth history and is nil in the others.
	mixed, whole *wardlet
	docs         ledger
	lasting      causes
	clock        clock
	// delivered are the sources that have delivered anything. early are the sources whose first
	// delivery was a difference.
	delivered, early map[string]bool
	tally            *tally
}

// compare runs a history and returns an error where the sides differ without a reason.
func compare(h *history, t *tally) (err error) {
	c := &comparison{
		kubelet: kubelet.New(sources...), theirs: map[key]*held{}, docs: newLedger(), lasting: causes{},
		delivered: map[string]bool{}, early: map[string]bool{}, tally: t,
	}
	c.mixed = newWardlet(false, c.clock.now)
	if h.seed%4 == 0 {
		c.whole = newWardlet(true, c.clock.now)
	}
	defer func() {
		c.kubelet.Stop()
		for _, w := range c.ours() {
			err = errors.Join(err, w.stop())
		}
	}()
	for _, w := range c.ours() {
		if _, err := w.start(); err != nil {
			return err
		}
	}
	for i := range h.steps {
		if err := c.step(&h.steps[i]); err != nil {
			return fmt.Errorf("delivery %d, from %s: %w", i+1, h.steps[i].source, err)
		}
	}
	return c.desired()
}

func (c *comparison) ours() []*wardlet {
	if c.whole == nil {
		return []*wardlet{c.mixed}
	}
	return []*wardlet{c.mixed, c.whole}
}

func (c *comparison) step(s *step) error {
	c.clock.Add(1)
	if s.restart {
		c.docs = c.docs.restarted()
		if err := c.restart(); err != nil {
			return err
		}
		c.lasting = lasting(c.docs, c.mixed.stream.held)
	}
	before := c.docs
	c.docs = before.after(s)
	began, was := time.Now(), runs(c.mixed.mux.Pods())
	theirs, ours, own := c.deliver(s)
	passing, reworded := passing(before, c.docs)
	now := lasting(c.docs, c.mixed.stream.held)
	excused := now.with(c.lasting, passing)
	c.lasting = now
	var wrong first
	wrong.set(c.operations(theirs, ours, excused, reworded, began))
	wrong.set(c.seen(s, theirs, ours, excused))
	wrong.set(c.holdTheSame(excused, now))
	c.tally.deliveries++
	if wrong.err != nil {
		wrong.err = fmt.Errorf("beside a kubelet: %w", wrong.err)
	}
	if own == nil {
		own = knownStays(before, c.docs, was, runs(c.mixed.mux.Pods()), excused)
	}
	if own != nil {
		own = fmt.Errorf("by our own rules: %w", own)
	}
	return errors.Join(wrong.err, own)
}

// deliver passes a step to all muxes. The error is the first failed check of Wardlet's own rules,
// or of the form of the kubelet's updates.
func (c *comparison) deliver(s *step) (theirs, ours said, own error) {
	var pods []*v1.Pod
	for _, d := range s.documents {
		if d.raw != nil {
			pods = append(pods, d.raw)
		}
	}
	var wrong first
	updates := c.kubelet.Deliver(s.source, pods)
	if len(updates) > 1 {
		c.tally.use(oneUpdate)
	}
	theirs, err := ofKubelet(updates)
	wrong.set(err)
	mixed, ours, err := c.mixed.step(s, c.docs)
	wrong.set(err)
	if c.whole != nil {
		whole, _, err := c.whole.step(s, c.docs)
		wrong.set(err)
		wrong.set(sameChanges(mixed, whole))
	}
	return theirs, ours, wrong.err
}

// seen compares what both sides report when a source is read for the first time.
func (c *comparison) seen(s *step, theirs, ours said, excused causes) error {
	first := !c.delivered[s.source]
	c.delivered[s.source] = true
	if all := len(c.delivered) == len(sources); c.kubelet.SeenAll() != all {
		return fmt.Errorf("the kubelet has seen all sources: %t", !all)
	} else if !all && len(c.mixed.read) > 0 {
		c.tally.use(readyPerSource)
	}
	if first {
		c.early[s.source] = !c.mixed.whole(s)
	}
	switch {
	case first == ours.first:
	case c.early[s.source]:
		c.tally.use(noSnapshot)
		return nil
	default:
		return fmt.Errorf("read for the first time: the kubelet says %t, wardlet %t", first, ours.first)
	}
	if theirs.empty == ours.empty {
		return nil
	}
	for _, e := range slices.Concat(theirs.entries, ours.entries) {
		if len(excused[e.key]) > 0 && e.op != api.Remove && e.op != api.Reconcile {
			return nil
		}
	}
	return fmt.Errorf("an empty ADD: from the kubelet %t, from wardlet %t", theirs.empty, ours.empty)
}

// restart stops both sides and starts them again.
func (c *comparison) restart() error {
	c.kubelet.Stop()
	c.kubelet, c.theirs = kubelet.New(sources...), map[key]*held{}
	c.delivered = map[string]bool{}
	var said [][]api.Update
	for _, w := range c.ours() {
		updates, err := w.restart(c.docs)
		if err != nil {
			return fmt.Errorf("after a restart: %w", err)
		}
		said = append(said, updates)
	}
	return sameChanges(said[0], said[len(said)-1])
}

// desired checks that the mux holds exactly the pods that it has handed on.
func (c *comparison) desired() error {
	have, held := c.mixed.mux.Pods(), c.mixed.stream.held
	if len(have) != len(held) {
		return fmt.Errorf("the mux has %d pods and handed on %d", len(have), len(held))
	}
	for _, d := range have {
		if h := held[key{d.Origin.Source, d.Pod.UID}]; h == nil || pod.Diff(h.pod, d.Pod) != 0 {
			return fmt.Errorf("the mux has %s, which it did not hand on as it is", d.Pod.UID)
		}
	}
	return nil
}

// sameChanges compares the changes our two muxes report for one delivery, of which mixed may have
// received only the difference. It does not compare whether a source counts as read, because a
// difference does not make a source read.
func sameChanges(mixed, whole []api.Update) error {
	a, b := changesOf(mixed), changesOf(whole)
	for i := range max(len(a), len(b)) {
		if i < len(a) && i < len(b) && reflect.DeepEqual(a[i], b[i]) {
			continue
		}
		return fmt.Errorf("with differences: %s; always given the whole: %s", list(a), list(b))
	}
	return nil
}

// changesOf returns the changes of updates without their sequence numbers, sorted by operation and
// then by pod.
func changesOf(updates []api.Update) (all []api.Change) {
	for _, u := range updates {
		all = append(all, u.Changes...)
	}
	for i := range all {
		all[i].Seq = 0
	}
	slices.SortStableFunc(all, func(a, b api.Change) int {
		return cmp.Or(
			cmp.Compare(rank[a.Op], rank[b.Op]), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Pod().UID, b.Pod().UID),
		)
	})
	return all
}

func list(changes []api.Change) (text []string) {
	for i := range changes {
		c := &changes[i]
		line := fmt.Sprintf("%s %s of %s", c.Op, c.Pod().UID, c.Origin.Document)
		if c.Replaces != "" {
			line += " for " + string(c.Replaces)
		}
		text = append(text, line)
	}
	return text
}

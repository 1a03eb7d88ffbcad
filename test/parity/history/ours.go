package history

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// stream follows the updates of one of our muxes, and checks Wardlet's own rules: sequence numbers
// have no holes, old and new versions are those of the documents, first-seen times are right, and
// the two halves of a replacement match.
type stream struct {
	held             map[key]*held
	updates, changes uint64
	restarted        bool
}

func newStream() *stream { return &stream{held: map[key]*held{}} }

// take follows the updates of one delivery; there may be at most one. The error is the first failed
// check.
func (t *stream) take(updates []api.Update, docs ledger, now time.Time) (said, []string, error) {
	var out said
	var seen []string
	var wrong first
	if len(updates) > 1 {
		wrong.set(fmt.Errorf("%d updates follow one delivery", len(updates)))
	}
	for i := range updates {
		u := &updates[i]
		if t.updates++; u.Seq != t.updates {
			wrong.set(fmt.Errorf("update %d comes as number %d", u.Seq, t.updates))
		}
		seen = append(seen, u.Seen...)
		last := -1
		for j := range u.Changes {
			c := &u.Changes[j]
			if rank[c.Op] < last {
				wrong.set(fmt.Errorf("%s comes too late", c.Op))
			}
			last = rank[c.Op]
			out.entries = append(out.entries, entry{c.Op, key{c.Source, c.Pod().UID}, c.Pod()})
			if err := t.change(c, docs, now); err != nil {
				wrong.set(fmt.Errorf("%s of %s from %s: %w", c.Op, c.Pod().UID, c.Source, err))
			}
		}
		wrong.set(pairs(u.Changes))
	}
	out.first = len(seen) > 0
	out.empty = out.first && !slices.ContainsFunc(out.entries, func(e entry) bool {
		return e.op == api.Add || e.op == api.UpdateOp || e.op == api.Delete
	})
	wrong.set(alone(t.held))
	return out, seen, wrong.err
}

// first keeps the first of several errors.
type first struct{ err error }

func (f *first) set(err error) {
	if f.err == nil {
		f.err = err
	}
}

func (t *stream) change(c *api.Change, docs ledger, now time.Time) error {
	var before *held
	e := entry{c.Op, key{c.Source, c.Pod().UID}, c.Pod()}
	if h := t.held[e.key]; h != nil {
		was := *h
		before = &was
	}
	if err := e.take(t.held); err != nil {
		return err
	}
	begins, ends := c.Op == api.Add || c.Op == api.Restore, c.Op == api.Remove
	t.changes++
	switch {
	case c.Seq != t.changes:
		return fmt.Errorf("change %d comes as number %d", c.Seq, t.changes)
	case (c.Old == nil) != begins || (c.New == nil) != ends:
		return errors.New("old or new pod is missing, or too many")
	case c.Changed != pod.Diff(c.Old, c.New):
		return fmt.Errorf("changed fields are %b, not %b", pod.Diff(c.Old, c.New), c.Changed)
	case c.Origin.Source != c.Source:
		return fmt.Errorf("its origin is source %s", c.Origin.Source)
	case before != nil && pod.Diff(before.pod, c.Old) != 0:
		return errors.New("the old pod is not the one that was handed on last")
	case ends:
		return nil
	}
	t.held[e.key].origin = c.Origin
	if c.Op == api.Restore {
		return nil
	}
	return t.origin(c, before, docs, now)
}

// origin checks that the new pod is the one of the document that its origin names, and that the
// time at which it was first seen is right.
func (t *stream) origin(c *api.Change, before *held, docs ledger, now time.Time) error {
	d, ok := docs[c.Source][c.Origin.Document]
	// The record on the disk may lack changes that are not meaningful.
	stored := ok && d.unconfirmed && !pod.Meaningful(pod.Diff(d.given, c.New))
	switch first := c.Origin.FirstSeen; {
	case !ok || d.version != c.Origin.Version && !stored:
		return fmt.Errorf("its document is %s in version %s, which the source does not have", c.Origin.Document, c.Origin.Version)
	case d.given != c.New && !stored && (!d.unreadable || !equality.Semantic.DeepEqual(d.given, c.New)):
		return errors.New("it is not the pod of its document")
	case before != nil && !first.Equal(before.origin.FirstSeen):
		return fmt.Errorf("it was first seen %v, and before that %v", first, before.origin.FirstSeen)
	case before == nil && !first.Equal(now) && (!t.restarted || first.After(now)):
		return fmt.Errorf("it was first seen %v, not %v", first, now)
	}
	return nil
}

// pairs checks that the two halves of each replacement name each other.
func pairs(changes []api.Change) error {
	half := func(op api.Op, uid, other types.UID) bool {
		return slices.ContainsFunc(changes, func(c api.Change) bool {
			return c.Op == op && c.Pod().UID == uid && c.Replaces == other
		})
	}
	for i := range changes {
		c := &changes[i]
		other := map[api.Op]api.Op{api.Add: api.Remove, api.Remove: api.Add}[c.Op]
		// The other half of a restored pod's replacement came before the restart.
		if c.Op != api.Restore && c.Replaces != "" && !half(other, c.Replaces, c.Pod().UID) {
			return fmt.Errorf("%s of %s replaces %s, of which there is no %s", c.Op, c.Pod().UID, c.Replaces, other)
		}
	}
	return nil
}

// restart checks the updates of the mux after a restart: exactly the pods that were there before
// must be restored. Mirror pods may be missing, because they are created again from the pods that
// they mirror. docs is the content that was delivered before.
func (t *stream) restart(updates []api.Update, docs ledger, now time.Time) error {
	was := t.held
	t.held, t.updates, t.changes, t.restarted = map[key]*held{}, 0, 0, true
	out, seen, err := t.take(updates, docs, now)
	if err != nil {
		return err
	}
	if len(seen) > 0 {
		return fmt.Errorf("%v is seen before it was read", seen)
	}
	if docs.mirrorBars() {
		return nil // the mirror pod is not restored, so the pod that it blocked may start
	}
	for _, e := range out.entries {
		before, is := was[e.key], t.held[e.key]
		switch {
		case e.op != api.Restore:
			return fmt.Errorf("%s of %s before any source was read", e.op, e.key.uid)
		case before == nil:
			return fmt.Errorf("%s of %s is restored and was not there", e.key.uid, e.key.source)
		case pod.Meaningful(pod.Diff(before.pod, e.pod)):
			return fmt.Errorf("%s is restored as it was not", e.key.uid)
		case is == nil:
			return fmt.Errorf("%s is restored and taken back before any source was read", e.key.uid)
		case !is.origin.FirstSeen.Equal(before.origin.FirstSeen):
			return fmt.Errorf("%s is restored with another first-seen time", e.key.uid)
		}
	}
	for k := range was {
		if t.held[k] == nil && !slices.ContainsFunc(docs.pods()[k], pod.IsMirror) {
			return fmt.Errorf("%s from %s was lost by a restart", k.uid, k.source)
		}
	}
	return nil
}

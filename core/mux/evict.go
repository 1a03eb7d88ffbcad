package mux

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/crashpoint"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// eviction asks for the end of a pod that runs, on its way to the goroutine of Run.
type eviction struct {
	pod     *v1.Pod
	verdict api.Verdict
	// done gets one value. It has room for it.
	done chan error
}

// Evict ends a pod that runs because policy does not let it run any more: from then
// on it is one that was denied by this verdict, and is judged again as such. It fails,
// and nothing happens, where the pod does not run as this instance of it, where its end
// is decided otherwise, and where the verdict cannot be written.
func (m *Mux) Evict(ctx context.Context, p *v1.Pod, v api.Verdict) error {
	e := eviction{p, v, make(chan error, 1)}
	select {
	case m.evictions <- e:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-e.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// evict has the verdict on the disk before it takes effect. The error is that of the
// loop's step, not why the pod stays.
func (m *Mux) evict(ctx context.Context, e eviction) error {
	m.mu.RLock()
	sl, err := m.store.evictable(e.pod)
	var record state.Record
	if err == nil {
		record = sl.evicted(&e.verdict)
	}
	m.mu.RUnlock()
	if err == nil {
		if err = m.documents.Apply([]state.Record{record}, nil); err != nil {
			err = fmt.Errorf("the verdict cannot be kept: %w", err)
		}
	}
	if err != nil {
		e.done <- err
		return nil //nolint:nilerr // the error is the caller's: the loop continues
	}
	crashpoint.Reached("eviction stored")
	err = m.step(ctx, func(t *merging) outcome { return t.evict(sl, &e.verdict) })
	e.done <- err
	return err
}

// evictable is the slot of a pod that runs as this instance, and that a source still
// wants as what it is or until something newer, or a rival, may take its place.
func (s *store) evictable(p *v1.Pod) (*slot, error) {
	sl := s.owner[p.UID]
	switch {
	case sl == nil || !sl.runs() || sl.sent.final != p && !pod.SameInstance(sl.sent.final, p):
		return nil, errors.New("the pod does not run any more as what was judged")
	case sl.first == nil && sl.successor == nil:
		return nil, errors.New("no document wants the pod any more")
	case sl.first != nil && sl.first.pod.DeletionTimestamp != nil:
		return nil, errors.New("the pod is being deleted")
	}
	return sl, nil
}

// evicted is what the disk must hold before the slot's pod is ended. Where the document
// of that is another pod by now, it is on the disk with what that waits for, and goes.
func (sl *slot) evicted(v *api.Verdict) state.Record {
	e, have := sl.first, sl.sent
	if e == nil {
		next := sl.successor
		e = next.entry
		return state.Record{
			Source: next.slot.source.Name, ID: e.id, Version: e.podVersion, Pod: e.pod, FirstSeen: e.firstSeen,
			Runs: next.slot.first == e, Suppressed: cmp.Or(e.suppressed, next.slot.keptSuppression()),
		}
	}
	r := state.Record{
		Source: sl.source.Name, ID: e.id, Version: e.podVersion, Pod: e.pod, FirstSeen: have.origin.FirstSeen, Runs: true,
		Decided: &state.Decided{Origin: have.origin, Verdict: v, After: have.after},
	}
	if have.pod != e.pod {
		r.Decided.Pod = have.pod
	}
	return r
}

// evict makes the slot's pod one that was denied. A newer version that waits goes on
// waiting where it is another pod, and so does a rival; a mere update is judged with the
// pod.
func (t *merging) evict(sl *slot, v *api.Verdict) outcome {
	sl.sent.verdict, sl.sent.base = v, sl.base().Hash()
	c := api.Change{Op: api.Evict, Source: sl.sent.origin.Source, Old: sl.sent.final, New: sl.sent.final, Origin: sl.sent.origin, Verdict: v}
	if w := sl.wait; w != nil && w.pod.UID == sl.sent.pod.UID {
		t.abandon(sl)
		t.unhold(sl)
	}
	if w := sl.successor; w != nil && w.slot != sl {
		t.part(sl, w)
	}
	if sl.first != nil {
		t.changed = append(t.changed, sl.first)
	}
	t.touch(sl)
	changes := t.changes()
	return t.finish(outcome{changes: append([]api.Change{c}, changes...)})
}

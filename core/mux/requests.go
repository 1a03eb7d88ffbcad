package mux

import (
	"context"
	"errors"
	"fmt"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/crashpoint"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// release is a request to let the held updates of a pod pass now, on its way to the goroutine of
// Run.
type release struct {
	namespace, name string
	// done gets one value. It has room for it.
	done chan released
}

// released is the result of a release.
type released struct {
	updates []api.WaitingUpdate
	err     error
}

// Release lets the updates pass that a filter holds back of the pods with this name, and returns
// them. The name may be that of the new version, of the pod that runs until then, or of their
// identity. Release fails if no filter holds back an update of them. It does not release versions
// that policy does not admit.
func (m *Mux) Release(ctx context.Context, namespace, name string) ([]api.WaitingUpdate, error) {
	r := release{namespace, name, make(chan released, 1)}
	select {
	case m.releases <- r:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case done := <-r.done:
		return done.updates, done.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// release lets the updates of a pod pass that a filter holds back.
func (m *Mux) release(ctx context.Context, r release) error {
	var over []*pendingVersion
	var done released
	others := 0
	m.mu.Lock()
	for _, w := range m.store.pending.All() {
		if !w.isOf(r.namespace, r.name) {
			continue
		}
		h := w.hold()
		if h == nil {
			others++
		}
		if h == nil || h.IsPassing() {
			continue
		}
		done.updates = append(done.updates, w.update())
		h.Release(m.now())
		over = append(over, w)
	}
	m.mu.Unlock()
	if len(over) == 0 {
		done.err = nothingReleased(r, others)
		r.done <- done
		return nil
	}
	err := m.applyFilterAnswers(ctx, nil, over, nil)
	for _, w := range over {
		if h := w.slot.hold; w.slot.pending == w && h != nil && h.Failure() != "" {
			done.err = fmt.Errorf("%s/%s passes once it can be written, which is tried again every %s: %s",
				r.namespace, r.name, writeRetryDelay, h.Failure())
		}
	}
	r.done <- done
	return err
}

func nothingReleased(r release, others int) error {
	if others > 0 {
		return fmt.Errorf("%s/%s waits to be admitted, which release does not do; \"wardlet get updates\" says by which policy", r.namespace, r.name)
	}
	return fmt.Errorf("no update of %s/%s is held back by a filter; \"wardlet get updates\" shows what waits", r.namespace, r.name)
}

// isOf reports whether the wait is about a pod of this name.
func (w *pendingVersion) isOf(namespace, name string) bool {
	if w.pod.Namespace != namespace {
		return false
	}
	running := w.running()
	return w.pod.Name == name || w.slot.identity.Name == name || running != nil && running.Name == name
}

// eviction is a request to terminate a running pod, on its way to the goroutine of Run.
type eviction struct {
	pod     *v1.Pod
	verdict api.Verdict
	// done gets one value. It has room for it.
	done chan error
}

// Evict terminates a running pod because policy no longer admits it. From then on the pod is denied
// by this verdict, and is judged again as a denied pod. Evict fails and changes nothing if the pod
// does not run as this instance, is already being deleted, or if the verdict cannot be written.
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

// evict writes the verdict to the disk before it takes effect. The returned error is that of the
// loop's step. The reason why the pod was not evicted goes to e.done.
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
	err = m.step(ctx, func(t *txn) outcome { return t.evict(sl, &e.verdict) })
	e.done <- err
	return err
}

// evictable returns the slot of a pod that runs as this instance and has a document that is not
// being deleted.
func (s *store) evictable(p *v1.Pod) (*slot, error) {
	sl := s.owner[p.UID]
	switch {
	case sl == nil || !sl.runs() || sl.sent.mutated != p && !pod.SameInstance(sl.sent.mutated, p):
		return nil, errors.New("the pod does not run any more as what was judged")
	case sl.first == nil:
		return nil, errors.New("no document has the pod any more")
	case sl.first.Pod.DeletionTimestamp != nil:
		return nil, errors.New("the pod is being deleted")
	}
	return sl, nil
}

// evicted returns the record that must be on the disk before the slot's pod is terminated.
func (sl *slot) evicted(v *api.Verdict) state.Record {
	e, have := sl.first, sl.sent
	r := state.Record{
		Source: sl.source.Name, ID: e.ID, Version: e.Version, Pod: e.Pod, FirstSeen: have.origin.FirstSeen, Runs: true,
		Decided: &state.Decided{Origin: have.origin, Verdict: v, After: have.after},
	}
	if have.pod != e.Pod {
		r.Decided.Pod = have.pod
	}
	return r
}

// evict marks the slot's pod as denied. A newer version that is another pod continues to wait, and
// so does the document of another claimant. A newer version of the same pod is judged together with
// the pod.
func (t *txn) evict(sl *slot, v *api.Verdict) outcome {
	sl.sent.verdict, sl.sent.base = v, sl.mergePatch().Hash()
	c := api.Change{Op: api.Evict, Source: sl.sent.origin.Source, Old: sl.sent.mutated, New: sl.sent.mutated, Origin: sl.sent.origin, Verdict: v}
	if w := sl.pending; w != nil && w.pod.UID == sl.sent.pod.UID {
		t.cancel(sl)
		t.endHold(sl)
	}
	if w := sl.successor; w != nil && w.slot != sl {
		t.detach(sl, w)
	}
	t.changed = append(t.changed, sl.first)
	t.markDirty(sl)
	changes := t.changes()
	return t.finish(outcome{changes: append([]api.Change{c}, changes...)})
}

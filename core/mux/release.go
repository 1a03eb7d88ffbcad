package mux

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/wardlet/wardlet/core/api"
)

// release asks for updates of a pod to pass now, on its way to the goroutine
// of Run.
type release struct {
	namespace, name string
	// done gets one value. It has room for it.
	done chan released
}

// released is what became of a release.
type released struct {
	updates []api.WaitingUpdate
	err     error
}

// Release lets the updates pass that a filter holds back of the pods of this
// name, and returns them. It is the name of the new version, of what runs on
// meanwhile, or of their identity. It fails where no filter holds anything back
// of them; what policy does not admit is not released.
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

// release lets pass what a filter holds back of a pod.
func (m *Mux) release(ctx context.Context, r release) error {
	var over []*wait
	var done released
	others := 0
	m.mu.Lock()
	for _, w := range m.store.waiting() {
		if !w.isOf(r.namespace, r.name) {
			continue
		}
		s := w.suppressed()
		if s == nil {
			others++
		}
		if s == nil || s.free != nil {
			continue
		}
		done.updates = append(done.updates, w.update())
		s.released = true
		if s.since.IsZero() {
			s.since = m.now()
		}
		over = append(over, w)
	}
	m.mu.Unlock()
	if len(over) == 0 {
		done.err = nothingReleased(r, others)
		r.done <- done
		return nil
	}
	err := m.sift(ctx, nil, over, nil)
	for _, w := range over {
		if s := w.slot.held; w.slot.wait == w && s != nil && !s.stuck.IsZero() {
			done.err = fmt.Errorf("%s/%s passes once it can be written, which is tried again every %s: %s",
				r.namespace, r.name, writeAgain, s.verdict.Message)
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
func (w *wait) isOf(namespace, name string) bool {
	if w.pod.Namespace != namespace {
		return false
	}
	running := w.running()
	return w.pod.Name == name || w.slot.identity.Name == name || running != nil && running.Name == name
}

// Suppressed are the updates that a filter holds back, or has not answered,
// ordered by namespace, name and UID.
func (m *Mux) Suppressed() []api.WaitingUpdate {
	m.mu.RLock()
	defer m.mu.RUnlock()
	all := []api.WaitingUpdate{}
	for w := range m.store.parked {
		if s := w.suppressed(); s != nil && s.free == nil {
			all = append(all, w.update())
		}
	}
	slices.SortFunc(all, func(a, b api.WaitingUpdate) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
	return all
}

// update is the wait, which a filter holds back, as `get updates` shows it.
func (w *wait) update() api.WaitingUpdate {
	q, s := w.filterQuestion(), w.suppressed()
	u := api.WaitingUpdate{
		Namespace: w.pod.Namespace, Name: w.pod.Name, UID: w.pod.UID, Op: q.Op, Replaces: q.Replaces,
		Wait: api.WaitAsked, Reason: api.ReasonNotAnswered, Since: s.since, Again: s.again, Until: s.until(),
		Source: q.Origin.Source, Document: q.Origin.Document, Version: q.Origin.Version,
	}
	v := s.verdict
	if v == nil || !v.Suppresses() && s.stuck.IsZero() {
		return u
	}
	u.Policy, u.Reason, u.Message = v.Policy, v.Reason, v.Message
	switch v.Answer {
	case api.Defer:
		u.Wait = api.WaitDeferred
	case api.Drop:
		u.Wait = api.WaitDropped
	}
	return u
}

package mux

import (
	"context"
	"fmt"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux/documents"
	"github.com/wardlet/wardlet/core/state"
)

// delivery is one call of a source, on its way to the goroutine of Run.
type delivery struct {
	source   string
	snapshot bool
	docs     []api.Document
	gone     []string
	// taken receives one value after the delivery has been merged and sent. It has room for the
	// value, so that Run never waits for a source that has stopped waiting.
	taken chan error
}

// Sink accepts the deliveries of one source.
type Sink struct {
	mux  *Mux
	name string
}

// Sink returns the Sink of the named source. It fails if the name is not configured.
func (m *Mux) Sink(name string) (*Sink, error) {
	if _, ok := m.store.sources[name]; !ok {
		return nil, fmt.Errorf("no source is named %q", name)
	}
	return &Sink{mux: m, name: name}, nil
}

// Replace delivers all documents of the source. Entries without a document among them are removed,
// unless their file is held (api.HoldSuffix).
func (s *Sink) Replace(ctx context.Context, all []api.Document) error {
	return s.deliver(ctx, delivery{snapshot: true, docs: all})
}

// Apply delivers a difference. If changed has one document of a manifest, it must have all
// documents of that manifest: other entries of the manifest are removed, unless the manifest is
// held (api.HoldSuffix). gone has the IDs of documents, and the paths of manifests, that were
// removed.
func (s *Sink) Apply(ctx context.Context, changed []api.Document, gone []string) error {
	return s.deliver(ctx, delivery{docs: changed, gone: gone})
}

// Health records the result of the source's last reading.
func (s *Sink) Health(err error) {
	s.mux.mu.Lock()
	defer s.mux.mu.Unlock()
	src := s.mux.store.sources[s.name]
	src.health = err
	if err == nil {
		src.lastRead = s.mux.now()
	}
}

// Ignored records which files of its directory the source does not read, nil for none.
func (s *Sink) Ignored(what *api.Ignored) {
	s.mux.mu.Lock()
	defer s.mux.mu.Unlock()
	s.mux.store.sources[s.name].ignored = what
}

func (s *Sink) deliver(ctx context.Context, d delivery) error {
	d.source, d.taken = s.name, make(chan error, 1)
	select {
	case s.mux.deliveries <- d:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-d.taken:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// merge applies a delivery to the store. The cost of a difference does not depend on the number of
// documents in the store.
func (s *store) merge(d delivery, t *txn) outcome {
	src := s.sources[d.source]
	t.delivered(src, src.docs.Apply(&documents.Delivery{Snapshot: d.snapshot, Documents: d.docs, Gone: d.gone}, t.now))
	src.lastRead = t.now
	out := outcome{changes: t.changes()}
	if d.snapshot && !src.seen {
		src.seen, out.seen = true, src.Name
		t.forgetAnswers()
	}
	return t.finish(out)
}

// delivered collects the results of a delivery for the slots of its source, and logs documents that
// were refused or became valid again.
func (t *txn) delivered(src *sourceStore, r *documents.Result) {
	for _, p := range r.Received {
		t.store.immutability.put(p)
	}
	for _, p := range r.Released {
		t.checkUnchanged(p)
	}
	for _, id := range r.Forgotten {
		t.gone = append(t.gone, state.DocumentID{Source: src.Name, ID: id})
	}
	t.changed = append(t.changed, r.Changed...)
	for _, e := range r.Changed {
		if sl := src.slots[e.Identity]; sl != nil && sl.first == e && sl.sent != nil {
			sl.sent.origin.Document = e.ID
		}
	}
	t.differences = r.Differences
	for e, before := range r.Reidentified {
		t.reidentify(src.slots[before], src.slot(e.Identity), e)
	}
	for _, identity := range r.Touched {
		t.markDirty(src.slot(identity))
	}
	for _, id := range r.Mended {
		if t.mayLog(src) {
			t.log.Info("document is valid again", "source", src.Name, "document", id)
		}
	}
	for _, id := range r.Refused {
		if f := src.docs.Fault(id); f != nil && !src.docs.Follows(id) && t.mayLog(src) {
			t.log.Warn("document refused", "source", src.Name, "document", id, "err", f.Err.Error()+src.docs.Consequence(id), "kept", src.docs.Kept(id))
		}
	}
}

// reidentify moves a running pod to another slot if only the identity in its annotation has
// changed. The pod is not restarted for that.
func (t *txn) reidentify(from, to *slot, e *documents.Entry) {
	if from == nil || from.first != e || !from.runs() || from.sent.pod.UID != e.Pod.UID ||
		to.sent != nil || len(to.source.docs.Of(to.identity)) > 1 || len(t.store.claimants(to.identity)) > 0 {
		return
	}
	t.cancel(from)
	t.endHold(from)
	if w := from.successor; w != nil {
		t.detach(from, w)
	}
	from.sent, to.sent = nil, from.sent
	t.store.owner[e.Pod.UID] = to
}

// A source may log lineBurst lines about its documents at once, and linesPerSecond after that.
// "wardlet get sources" shows all documents in any case.
const (
	lineBurst      = 100
	linesPerSecond = 1
)

// logLimit counts the logged lines of a source. The zero value allows a full burst.
type logLimit struct {
	used float64
	at   time.Time
	// silent is true after the log reported that lines are left out.
	silent bool
}

// take reports whether a line may be logged, and whether it is the first that may not be logged.
func (l *logLimit) take(now time.Time) (ok, last bool) {
	l.used = max(0, l.used-max(0, now.Sub(l.at).Seconds())*linesPerSecond)
	l.at = now
	if l.used <= lineBurst/2 {
		l.silent = false
	}
	if !l.silent && l.used+1 <= lineBurst {
		l.used++
		return true, false
	}
	last = !l.silent
	l.silent = true
	return false, last
}

// mayLog reports whether a line about a document of a source may be logged.
func (t *txn) mayLog(of *sourceStore) bool {
	ok, last := of.logLimit.take(t.now)
	if last {
		t.log.Warn("further documents of the source are not logged, there are too many; \"wardlet get sources\" shows them",
			"source", of.Name)
	}
	return ok
}

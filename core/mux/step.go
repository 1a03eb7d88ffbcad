package mux

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/crashpoint"
	"github.com/wardlet/wardlet/core/mux/conflict"
	"github.com/wardlet/wardlet/core/mux/documents"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// outcome is the result of a merge.
type outcome struct {
	// changes come in the order they must be applied.
	changes []api.Change
	// seen is the source's name if this was its first snapshot.
	seen string
	// keep are the records to write before the changes are sent. drop are the documents whose
	// records are removed.
	keep []state.Record
	drop []state.DocumentID
	// notices are calls for Waits, asked are questions for the gate.
	notices []func(Waits)
	asked   []question
	// recalled are questions with their verdict from before a restart.
	recalled []recalled
	// filterQuestions are questions for the filter.
	filterQuestions []filterAsk
	// conflicts are questions for the resolver, and answers to be kept.
	conflicts conflict.Output
}

// txn is the work of one step of the store.
type txn struct {
	store *store
	now   time.Time
	log   *slog.Logger
	// dirty are the slots to look at, in the order in which they were marked.
	dirty  []*slot
	marked map[*slot]bool
	// differences are the changed fields of the documents of this delivery.
	differences map[*documents.Entry]documents.Difference
	// changed are the entries whose record on the disk is out of date. gone are the documents whose
	// records are to be removed.
	changed []*documents.Entry
	gone    []state.DocumentID
	// freed are the UIDs of pods that were removed from the sync loop.
	freed   []types.UID
	notices []func(Waits)
	asked   []question
	// recalled are questions with their verdict from before a restart.
	recalled        []recalled
	filterQuestions []filterAsk
}

func (s *store) begin(now time.Time, log *slog.Logger) *txn {
	return &txn{store: s, now: now, log: log, marked: map[*slot]bool{}}
}

// finish adds to an outcome the results that the txn has collected.
func (t *txn) finish(out outcome) outcome {
	out.keep, out.drop, out.notices, out.asked = t.records(), t.gone, t.notices, t.asked
	out.recalled = t.recalled
	out.filterQuestions, out.conflicts = t.filterQuestions, t.store.conflicts.Take()
	return out
}

func (t *txn) markDirty(sl *slot) {
	if sl != nil && !t.marked[sl] {
		t.marked[sl] = true
		t.dirty = append(t.dirty, sl)
	}
}

// difference returns the fields in which the entry's pod differs from an earlier one.
func (t *txn) difference(before *v1.Pod, e *documents.Entry) pod.Fields {
	if d, ok := t.differences[e]; ok && d.Before == before {
		return d.Fields
	}
	return pod.Diff(before, e.Pod)
}

// checkUnchanged checks, in a test build, that a pod was not changed after its source delivered it.
func (t *txn) checkUnchanged(p *v1.Pod) {
	if err := t.store.immutability.drop(p); err != nil {
		t.log.Error(changedPod, "err", err)
	}
}

// changedPod is the message that a test build logs if a shared pod was changed.
const changedPod = "a pod that is shared was changed"

func (t *txn) notify(notice func(Waits)) { t.notices = append(t.notices, notice) }

// step changes the store and then applies the results in this order: the disk, the notices, the
// sync loop, the gate, the filter, the resolver.
func (m *Mux) step(ctx context.Context, change func(*txn) outcome) error {
	m.mu.Lock()
	out := change(m.store.begin(m.now(), m.log))
	m.mu.Unlock()
	m.persist(&out)
	m.keepResolutions(&out)
	for _, notice := range out.notices {
		notice(m.waits)
	}
	if err := m.send(ctx, out); err != nil {
		return err
	}
	if len(out.changes) > 0 {
		crashpoint.Reached("change handed on")
	}
	for _, r := range out.recalled {
		m.gate.Admitted(r.Question, r.verdict)
	}
	for _, q := range out.asked {
		m.gate.Judge(q.Question, func(v api.Verdict) { m.verdicts.put(q.ticket, v) })
	}
	for _, q := range out.filterQuestions {
		m.filter.Filter(q.FilterQuestion, func(v api.FilterVerdict) { m.filtered.put(q.ticket, v) })
	}
	for _, q := range out.conflicts.Questions {
		m.resolver.Resolve(q.Contest, func(r api.Resolution) { m.answers.put(q.Ticket, r) })
	}
	return nil
}

// send sends an update to the sync loop, unless it is empty.
func (m *Mux) send(ctx context.Context, out outcome) error {
	if len(out.changes) == 0 && out.seen == "" {
		return nil
	}
	m.updateSeq++
	u := api.Update{Seq: m.updateSeq, Changes: out.changes}
	if out.seen != "" {
		u.Seen = []string{out.seen}
	}
	for i := range u.Changes {
		m.changeSeq++
		u.Changes[i].Seq = m.changeSeq
	}
	select {
	case m.updates <- u:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// answer is an answer to the question with this ticket.
type answer[T any] struct {
	ticket uint64
	value  T
}

// inbox collects answers until the goroutine of Run takes them. Adding an answer does not block.
type inbox[T any] struct {
	// ready has a value while there are answers.
	ready chan struct{}
	mu    sync.Mutex
	all   []answer[T]
}

func newInbox[T any]() *inbox[T] { return &inbox[T]{ready: make(chan struct{}, 1)} }

func (b *inbox[T]) put(ticket uint64, value T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, answer[T]{ticket, value})
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

func (b *inbox[T]) take() []answer[T] {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.all
	b.all = nil
	return all
}

// writeRetryDelay is the time between a failed write and the next try.
const writeRetryDelay = 10 * time.Second

// persist writes the changed records to the disk. A failed write stops no pod: until it succeeds, a
// restart begins with the older version. The goroutine of Run calls persist.
func (m *Mux) persist(out *outcome) {
	if len(out.keep) == 0 && len(out.drop) == 0 {
		return
	}
	err := m.documents.Apply(out.keep, out.drop)
	if err != nil {
		m.log.Error("the last valid versions are not saved; a restart may begin with earlier ones", "err", err, "again", writeRetryDelay)
	}
	failed := failedWrites(err)
	note := func(id state.DocumentID) {
		if failed(id) {
			m.dirtyRecords[id] = true
		} else {
			delete(m.dirtyRecords, id)
		}
	}
	for i := range out.keep {
		note(state.DocumentID{Source: out.keep[i].Source, ID: out.keep[i].ID})
	}
	for _, id := range out.drop {
		note(id)
	}
}

// retryWrites collects the documents whose writes failed, so that step writes them again.
func (m *Mux) retryWrites(t *txn) outcome {
	for id := range m.dirtyRecords {
		var e *documents.Entry
		if src := m.store.sources[id.Source]; src != nil {
			e = src.docs.Entry(id.ID)
		}
		if e != nil {
			t.changed = append(t.changed, e)
		} else {
			t.gone = append(t.gone, id)
		}
	}
	return t.finish(outcome{})
}

// failedWrites returns a function that reports whether the write of a document failed with err.
func failedWrites(err error) func(state.DocumentID) bool {
	batch, ok := errors.AsType[*state.BatchError](err)
	if !ok {
		return func(state.DocumentID) bool { return err != nil }
	}
	named := make(map[state.DocumentID]bool, len(batch.Documents))
	for _, id := range batch.Documents {
		named[id] = true
	}
	return func(id state.DocumentID) bool { return named[id] }
}

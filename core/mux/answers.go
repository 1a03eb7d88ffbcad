package mux

import (
	"context"
	"sync"
	"time"

	"github.com/wardlet/wardlet/core/pod"
)

// answers collects the verdicts that come from the gate until the goroutine of
// Run takes them. Whoever brings one does not wait.
type answers struct {
	// ready has a value while there are any.
	ready chan struct{}
	mu    sync.Mutex
	all   []answer
}

type answer struct {
	ticket  uint64
	verdict pod.Verdict
}

func newAnswers() *answers { return &answers{ready: make(chan struct{}, 1)} }

func (a *answers) put(ticket uint64, v pod.Verdict) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, answer{ticket, v})
	select {
	case a.ready <- struct{}{}:
	default:
	}
}

func (a *answers) take() []answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := a.all
	a.all = nil
	return all
}

// secure puts verdicts on the disk that are about to take effect, before any
// of them does. One that cannot be written takes none: its version is held, and
// judged again like any other.
func (m *Mux) secure(given []answer) {
	for i := range given {
		a := &given[i]
		w := m.store.asked[a.ticket]
		if w == nil || !m.store.takesEffect(w, a.verdict.Answer) {
			continue
		}
		r := w.record(&a.verdict)
		err := m.documents.Put(&r)
		if w.stored = err == nil; w.stored {
			continue
		}
		m.log.Error("a verdict was not written, so it does not count; the pod is held",
			"source", r.Source, "document", r.ID, "verdict", string(a.verdict.Answer), "err", err)
		a.verdict = pod.Verdict{
			Answer: pod.Hold, Reason: pod.ReasonVerdictNotKept, At: a.verdict.At, Sets: a.verdict.Sets,
			Message: "the verdict cannot be kept, so it does not count yet: " + err.Error(),
		}
	}
}

// takesEffect reports whether something goes on to the sync loop when this is
// the answer.
func (s *store) takesEffect(w *wait, answer pod.Answer) bool {
	switch answer {
	case pod.Hold:
		return false
	case pod.Deny:
		return w.running() == nil || s.stopDenied && w.op == pod.Add
	}
	return true
}

// judged takes verdicts in. One whose question was asked again, or is not of
// interest any more, is passed over.
func (s *store) judged(given []answer, t *merging, jitter func(time.Duration) time.Duration) outcome {
	var answered []*wait
	for _, a := range given {
		w := s.asked[a.ticket]
		if w == nil {
			continue
		}
		delete(s.asked, a.ticket)
		w.take(&a.verdict, t.now, jitter)
		answered = append(answered, w)
		t.touch(w.slot)
	}
	out := outcome{changes: t.changes()}
	for _, w := range answered {
		if w.slot.wait == w && w.stored {
			// What is on the disk has not come to pass.
			w.stored, t.changed = false, append(t.changed, w.entry)
		}
		// One that is allowed and still here was refused for its UID.
		if w.slot.wait == w && w.verdict.Answer != pod.Allow {
			t.announce(w)
		}
	}
	return t.finish(out)
}

// announce tells of a version that goes on waiting.
func (t *merging) announce(w *wait) {
	before := w.told
	w.told = w.shownAs()
	if before != "" && before != w.told {
		t.tell(func(to Waits) { to.Passed(before) })
	}
	waiting := w.waiting()
	t.tell(func(to Waits) { to.Waits(waiting) })
}

// retry asks again what was held and is due.
func (s *store) retry(t *merging) outcome {
	for _, w := range s.waiting() {
		if !w.retryAt.IsZero() && !w.retryAt.After(t.now) {
			w.retryAt = time.Time{}
			t.ask(w)
		}
	}
	return t.finish(outcome{})
}

// nextRetry is how long until something held is due; false if nothing is.
func (m *Mux) nextRetry() (time.Duration, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var first time.Time
	for w := range m.store.parked {
		if !w.retryAt.IsZero() && (first.IsZero() || w.retryAt.Before(first)) {
			first = w.retryAt
		}
	}
	return max(first.Sub(m.now()), 0), !first.IsZero()
}

// step changes the store and does what follows from it, in this order: the
// disk, the notices, the sync loop, the gate.
func (m *Mux) step(ctx context.Context, change func(*merging) outcome) error {
	m.mu.Lock()
	out := change(m.store.merging(m.now(), m.log))
	m.mu.Unlock()
	m.seeded.outcome(&out)
	m.persist(&out)
	for _, notice := range out.notices {
		notice(m.waits)
	}
	if err := m.send(ctx, out); err != nil {
		return err
	}
	for _, q := range out.asked {
		m.gate.Judge(q.Question, func(v pod.Verdict) { m.answers.put(q.ticket, v) })
	}
	return nil
}

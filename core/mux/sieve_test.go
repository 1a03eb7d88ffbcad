package mux

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
)

// sieve is a Filter that answers with the function answer, or not at all if the function
// returns nil.
type sieve struct {
	changed chan struct{}

	mu     sync.Mutex
	answer func(api.FilterQuestion) *api.FilterVerdict
	asked  []string
	// late is true while answers are kept in later instead of being sent.
	late  bool
	later []func()
}

func newSieve(answer func(api.FilterQuestion) *api.FilterVerdict) *sieve {
	return &sieve{changed: make(chan struct{}, 1), answer: answer}
}

func (f *sieve) FilterChanged() <-chan struct{} { return f.changed }

func (f *sieve) Filter(q api.FilterQuestion, answer func(api.FilterVerdict)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	line := fmt.Sprintf("%s %s %s", q.Op, q.Pod.UID, q.Pod.Spec.Containers[0].Image)
	if q.Old != nil {
		line += " old " + q.Old.Spec.Containers[0].Image
	}
	if q.Replaces != "" {
		line += " for " + string(q.Replaces)
	}
	f.asked = append(f.asked, line)
	v := f.answer(q)
	switch {
	case v == nil:
	case f.late:
		f.later = append(f.later, func() { answer(*v) })
	default:
		answer(*v)
	}
}

// postpone keeps back all answers until the function that it returns is called.
func (f *sieve) postpone() (give func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.late = true
	return func() {
		f.mu.Lock()
		later := f.later
		f.late, f.later = false, nil
		f.mu.Unlock()
		for _, give := range later {
			give()
		}
	}
}

// turn changes the answers of the sieve without notifying the mux.
func (f *sieve) turn(answer func(api.FilterQuestion) *api.FilterVerdict) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answer = answer
}

// become changes the answers of the sieve and notifies the mux, as a change of policies does.
func (f *sieve) become(answer func(api.FilterQuestion) *api.FilterVerdict) {
	f.turn(answer)
	f.changed <- struct{}{}
}

func (f *sieve) questions() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	asked := f.asked
	f.asked = nil
	return asked
}

// limit is how long the filters of these tests may hold back a version.
const limit = time.Hour

func passes(api.FilterQuestion) *api.FilterVerdict { return &api.FilterVerdict{Answer: api.Pass} }

func drops(api.FilterQuestion) *api.FilterVerdict {
	return &api.FilterVerdict{Answer: api.Drop, Limit: limit, Policy: "p", Reason: "NoChange", Message: "not now"}
}

func silent(api.FilterQuestion) *api.FilterVerdict { return nil }

func defers(after time.Duration) func(api.FilterQuestion) *api.FilterVerdict {
	return func(api.FilterQuestion) *api.FilterVerdict {
		return &api.FilterVerdict{Answer: api.Defer, After: after, Limit: limit, Policy: "p", Reason: "Window", Message: "later"}
	}
}

// only returns a function that calls answer for one operation and passes all others.
func only(op api.Op, answer func(api.FilterQuestion) *api.FilterVerdict) func(api.FilterQuestion) *api.FilterVerdict {
	return func(q api.FilterQuestion) *api.FilterVerdict {
		if q.Op != op {
			return passes(q)
		}
		return answer(q)
	}
}

// startFiltered runs a mux with a filter, and with a judge if j is not nil.
func startFiltered(t *testing.T, documents Documents, j *judge, f *sieve, edits ...func(*Config)) *gated {
	t.Helper()
	g := &gated{t: t, judge: j, board: newBoard()}
	c := Config{
		Sources:   []Source{{Name: "one", Kind: "file", Location: "/one"}, {Name: "api", Kind: "api"}},
		Documents: documents, Logger: slog.New(slog.DiscardHandler), Now: time.Now, Waits: g.board,
	}
	if f != nil {
		c.Filter = f
	}
	if j != nil {
		c.Gate = j
	}
	for _, edit := range edits {
		edit(&c)
	}
	g.mux = New(c)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- g.mux.Run(ctx) }()
	g.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v, want it cancelled", err)
		}
		if j != nil {
			j.pending.Wait()
		}
	})
	t.Cleanup(g.stop)
	return g
}

// suppressed returns one line for each version that a filter holds back.
func (g *gated) suppressed() []string {
	g.t.Helper()
	synctest.Wait()
	var lines []string
	for _, u := range g.mux.Suppressed() {
		line := fmt.Sprintf("%s %s %s", u.Wait, u.Op, u.UID)
		if u.Replaces != "" {
			line += " for " + string(u.Replaces)
		}
		lines = append(lines, line)
	}
	return lines
}

// dying returns an edit by which the API server has deleted a pod, with a grace period in
// seconds.
func dying(grace int64) func(*v1.Pod) {
	return func(p *v1.Pod) {
		deleted(p)
		p.DeletionGracePeriodSeconds = &grace
	}
}

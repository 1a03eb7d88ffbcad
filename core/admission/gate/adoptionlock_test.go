package gate

import (
	"log/slog"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/status"
)

// entangled imitates the workers. It answers only after a worker has reported that another pod has
// ended, because the workers may hold one lock for both.
type entangled struct {
	t        *testing.T
	adoption *Adoption
	at       time.Time
}

func (e *entangled) Pods() ([]status.ObservedPod, time.Time) {
	return []status.ObservedPod{{UID: "u1", Sandboxes: []status.ObservedSandbox{{ID: "s", Ready: true}}}}, e.at
}

func (e *entangled) TerminationRequested(types.UID) bool {
	said := make(chan struct{})
	go func() {
		defer close(said)
		e.adoption.Ended("other")
	}()
	select {
	case <-said:
	case <-time.After(10 * time.Second):
		e.t.Error("a worker cannot say that its pod has ended while it is asked about another one")
	}
	return false
}

func TestWorkersAreAskedWithoutALock(t *testing.T) {
	t.Parallel()
	question := api.Question{Op: api.Add, Pod: adoptee("u1", "h1")}
	judge := func(a *Adoption) { a.Judge(question, func(api.Verdict) {}) }
	filter := func(a *Adoption) {
		f := &Filter{Adoption: a}
		f.Filter(api.FilterQuestion{Op: api.Add, Pod: question.Pod}, func(api.FilterVerdict) {})
	}
	for name, test := range map[string]struct{ before, after func(*Adoption) }{
		"for a judgement":                     {after: judge},
		"for a judgement that waited":         {before: judge},
		"for a filter":                        {after: filter},
		"for a filter that waited":            {before: filter},
		"for whether a pod runs on as it was": {after: func(a *Adoption) { a.Untouched("u1") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &entangled{t: t, at: time.Now()}
			a := &Adoption{Gate: &denying{}, Runtime: e, Lost: func() bool { return true }, Log: slog.New(slog.DiscardHandler)}
			e.adoption = a
			if test.before != nil {
				test.before(a)
			}
			a.look()
			if test.after != nil {
				test.after(a)
			}
		})
	}
}

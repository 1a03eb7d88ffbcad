package simulation

import (
	"fmt"
	"time"

	"github.com/wardlet/wardlet/core/api"
)

// policyBook is what policies and filters decide, and have decided.
type policyBook struct {
	// generation and filtering count the changes of policies and filters. Filters
	// let every update pass while relaxed.
	generation, filtering uint64
	relaxed               bool
	// allowed are the instances that policies have admitted at any time, denied those
	// that they have denied. answers are the last verdicts, by instance.
	allowed, denied map[string]bool
	answers         map[string]api.Verdict
}

func newPolicyBook() policyBook {
	return policyBook{allowed: map[string]bool{}, denied: map[string]bool{}, answers: map[string]api.Verdict{}}
}

// verdict returns the policies' current verdict on an instance.
func (w *world) verdict(instance string) api.Verdict {
	v := api.Verdict{Answer: api.Allow, At: w.clock.now()}
	switch n := mix(w.seed, "verdict "+instance, w.policy.generation) % 20; {
	case n < 13:
	case n < 17:
		v.Answer, v.Reason, v.Message = api.Hold, api.ReasonPolicyHeld, "not yet"
		if n%2 == 0 {
			v.RetryAfter = time.Duration(n) * time.Second
		}
	default:
		v.Answer, v.Reason, v.Message = api.Deny, api.ReasonPolicyDenied, "never"
	}
	return v
}

// gate asks the policies for one life of the agent. Its answers come on timer goroutines,
// and never after that life has ended.
type gate struct {
	*link
	changed, nodeChanged chan struct{}
}

func newGate(l *link) *gate {
	return &gate{l, make(chan struct{}, 1), make(chan struct{}, 1)}
}

// Judge implements mux.Gate.
func (g *gate) Judge(q api.Question, answer func(api.Verdict)) {
	w := g.world
	w.mu.Lock()
	delay := w.between("judge", time.Millisecond, 300*time.Millisecond)
	if w.draw("judge slow")%10 == 0 {
		delay = w.between("judge", time.Second, 10*time.Second)
	}
	w.mu.Unlock()
	instance := instanceOf(q.Pod)
	time.AfterFunc(delay, func() {
		w.mu.Lock()
		if g.ended() {
			w.mu.Unlock()
			return
		}
		v := w.verdict(instance)
		w.policy.answers[instance] = v
		switch v.Answer {
		case api.Allow:
			w.policy.allowed[instance] = true
		case api.Deny:
			w.policy.denied[instance] = true
		}
		w.note("policy says %s to %s of %s %s", v.Answer, q.Op, q.Pod.UID, instance)
		w.mu.Unlock()
		answer(v)
	})
}

// Admitted implements mux.Gate.
func (*gate) Admitted(api.Question, api.Verdict) {}

// Changed implements mux.Gate.
func (g *gate) Changed() <-chan struct{} { return g.changed }

// NodeChanged implements mux.Gate.
func (g *gate) NodeChanged() <-chan struct{} { return g.nodeChanged }

// filter asks the filters for one life of the agent.
type filter struct {
	*link
	changed chan struct{}
}

// Filter implements mux.Filter.
func (f *filter) Filter(q api.FilterQuestion, answer func(api.FilterVerdict)) {
	w := f.world
	w.mu.Lock()
	delay := w.between("filter", time.Millisecond, 100*time.Millisecond)
	w.mu.Unlock()
	time.AfterFunc(delay, func() {
		w.mu.Lock()
		if f.ended() {
			w.mu.Unlock()
			return
		}
		v := w.filtered(q.Pod.Annotations[annotationInstance])
		w.note("filter says %s to %s of %s", v.Answer, q.Op, q.Pod.UID)
		w.mu.Unlock()
		answer(v)
	})
}

// filtered returns the filters' current verdict on an instance.
func (w *world) filtered(instance string) api.FilterVerdict {
	v := api.FilterVerdict{Answer: api.Pass, At: w.clock.now()}
	n := mix(w.seed, "filter "+instance, w.policy.filtering)
	if w.policy.relaxed || n%5 < 3 {
		return v
	}
	v.Answer, v.Reason, v.Message = api.Drop, api.ReasonPolicySuppressed, fmt.Sprint("not in this window ", n%5)
	v.Limit = time.Duration(5+n/5%60) * time.Second
	if n%5 == 3 {
		v.Answer, v.After = api.Defer, time.Duration(1+n/7%10)*time.Second
	}
	return v
}

// FilterChanged implements mux.Filter.
func (f *filter) FilterChanged() <-chan struct{} { return f.changed }

// signal sends on ch, unless a signal waits there already.
func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

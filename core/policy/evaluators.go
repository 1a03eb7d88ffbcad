package policy

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/wardlet/wardlet/core/pod"
)

// evaluate is one evaluator: it takes questions and answers them until ctx
// ends. A verdict that the end of ctx has cut off is no verdict.
func (p *Plane) evaluate(ctx context.Context, at *activity) {
	select {
	case <-p.tried:
	case <-ctx.Done():
		return
	}
	for {
		t, ok := p.queue.take()
		if !ok {
			return
		}
		if !p.decide(ctx, &t, at) {
			return
		}
	}
}

// decide answers one question, unless ctx ends before. What the plugins have to
// tidy up for the next one comes after the answer.
func (p *Plane) decide(ctx context.Context, t *task, at *activity) (goOn bool) {
	q, now := &t.question, p.cfg.Now()
	if pod.IsMirror(q.Pod) {
		t.answer(pod.Verdict{Answer: pod.Allow, At: now})
		return true
	}
	var v pod.Verdict
	s, reason := p.standing.use()
	if s == nil {
		v = notReady(p.cfg.Dir, reason, now)
	} else {
		defer s.release()
		v = s.judge(ctx, p.request(q, now), p.cfg.DefaultVerdict, at)
	}
	if ctx.Err() != nil {
		return false
	}
	p.record(q, &v)
	t.answer(v)
	if s != nil {
		s.settle(ctx)
	}
	return true
}

// notReady is the verdict while no set was ever good.
func notReady(dir string, reason error, now time.Time) pod.Verdict {
	first, more, _ := strings.Cut(reason.Error(), "\n")
	if more != "" {
		first += fmt.Sprintf(" (and %d more)", strings.Count(more, "\n")+1)
	}
	return pod.Verdict{
		Answer: pod.Hold, Reason: pod.ReasonPoliciesNotReady, At: now,
		Message: fmt.Sprintf("no policies of %s are in force yet: %s", dir, first),
	}
}

func (p *Plane) record(q *pod.Question, v *pod.Verdict) {
	instance, err := pod.Instance(q.Pod)
	if err != nil {
		p.cfg.Logger.Warn("a decision is recorded without its instance", "pod", q.Pod.Namespace+"/"+q.Pod.Name, "err", err)
	}
	p.decisions.add(pod.Decision{
		First: v.At, Last: v.At, Count: 1, Op: q.Op,
		Namespace: q.Pod.Namespace, Name: q.Pod.Name, UID: q.Pod.UID, Instance: instance, Replaces: q.Replaces,
		Source: q.Origin.Source, Document: q.Origin.Document, Verdict: *v,
	})
}

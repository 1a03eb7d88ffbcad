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
		v, asked := p.verdict(ctx, &t.question, at)
		if ctx.Err() != nil {
			return
		}
		if asked {
			p.record(&t.question, &v)
		}
		t.answer(v)
	}
}

// verdict judges one question. asked is false for a pod no policy has a say
// in.
func (p *Plane) verdict(ctx context.Context, q *pod.Question, at *activity) (v pod.Verdict, asked bool) {
	now := p.cfg.Now()
	if pod.IsMirror(q.Pod) {
		return pod.Verdict{Answer: pod.Allow, At: now}, false
	}
	s, reason := p.standing.use()
	if s == nil {
		return notReady(p.cfg.Dir, reason, now), true
	}
	defer s.release()
	return s.judge(ctx, q, p.cfg.Kinds[q.Origin.Source], now, p.cfg.DefaultVerdict, at), true
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

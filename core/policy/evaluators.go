package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wardlet/wardlet/core/pod"
)

// evaluate is one evaluator: it takes questions and answers them until ctx
// ends. A verdict that the end of ctx has cut off is no verdict.
func (p *Plane) evaluate(ctx context.Context, at *activity) {
	for {
		t, ok := p.queue.take()
		if !ok {
			return
		}
		fuel, goOn := p.decide(ctx, &t, at)
		if !goOn {
			return
		}
		p.queue.over(t.tenant, fuel)
	}
}

// decide answers one question, unless ctx ends before, and gives what it took
// in fuel. What the plugins have to tidy up for the next one comes after the
// answer.
func (p *Plane) decide(ctx context.Context, t *task, at *activity) (fuel int64, goOn bool) {
	q, now := &t.question, p.cfg.Now()
	if pod.IsMirror(q.Pod) {
		t.answer(pod.Verdict{Answer: pod.Allow, At: now})
		return 0, true
	}
	var v pod.Verdict
	sets, lacking, reason := p.use(t.tenant)
	defer func() {
		for _, s := range sets {
			s.release()
		}
	}()
	d := p.decision(t, p.request(t, now), at)
	switch {
	case lacking == nil:
		v = judge(ctx, sets, d, p.cfg.DefaultVerdict)
	case d.exempt:
		v = notReady(lacking.dir, reason, now)
		v.Answer, v.Message = pod.Allow, v.Message+"; the pod is exempt and passes"
		p.cfg.Logger.Warn("policies are not ready, but the pod is exempt and passes", "pod", d.names[0], "directory", lacking.dir)
	default:
		v = notReady(lacking.dir, reason, now)
	}
	if ctx.Err() != nil {
		return 0, false
	}
	p.record(q, &v)
	t.answer(v)
	for _, s := range sets {
		s.settle(ctx)
	}
	for i := range v.Opinions {
		fuel += v.Opinions[i].Fuel
	}
	return fuel, true
}

// use gives the sets that judge the pods of a tenant, in the order they are
// asked: its own, then the operator's. The caller releases them. lacking is an
// owner who has none in force, and why, if that is known.
func (p *Plane) use(tenant string) (sets []*set, lacking *owner, reason error) {
	for _, o := range slices.Backward(p.owners) {
		if !o.judges(tenant) {
			continue
		}
		s, err := o.standing.use()
		if s == nil {
			return sets, o, err
		}
		sets = append(sets, s)
	}
	return sets, nil, nil
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

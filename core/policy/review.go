package policy

import (
	"context"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/rollout"
	"github.com/wardlet/wardlet/core/policy/sched"
)

// Running are the pods that run, for policies that judge them again. Its methods are
// called by one goroutine; all but Evict must not block.
type Running interface {
	// Pods are the pods that were admitted and handed on, and have not ended nor are
	// being deleted, in no order. Mirror pods are not among them.
	Pods() []RunningPod
	// Violates shows on a pod that it would not be admitted now; an empty message
	// takes that away.
	Violates(p *v1.Pod, v Violation)
	// Tell makes a warning event about a pod.
	Tell(p *v1.Pod, reason, message string)
	// Judged takes in what policies have said of a pod.
	Judged(opinions []api.Opinion)
	// Evict ends a pod that runs as this instance of it, and has it denied by the
	// verdict from then on. It is durable when it returns nil; else nothing happens.
	Evict(ctx context.Context, p *v1.Pod, v api.Verdict) error
}

// RunningPod is a pod as it runs, and what it was admitted by, nil for nothing.
type RunningPod struct {
	Pod     *v1.Pod
	Origin  api.Origin
	Verdict *api.Verdict
	// Rejected is the answer to the conflict in which the pod stands, if that is
	// ChooseNone, else nil.
	Rejected *api.Resolution
}

// Violation is what policies have against a pod that runs.
type Violation struct {
	// Reason is CamelCase, Message names the policies and says what is to come.
	Reason, Message string
}

// review asks the policies in force that judge pods that run about one, and gives what
// that took in fuel. An owner without a set has nothing to say. Of a tenant that has
// spent its budget it is put off.
func (p *Plane) review(
	ctx context.Context, run *RunningPod, tenant string, answer func(api.Verdict), later putsOff, at *sched.CurrentPolicy,
) (fuel int64, goOn bool) {
	now := p.cfg.Now()
	q := run.question()
	if !p.exempt(&q, eval.NamesOf(&q, p.cfg.Node)) {
		if wait := p.budgets.WaitReview(tenant, now); wait > 0 {
			_, why := sched.Exhausted(tenant)
			later(wait, why)
			return 0, true
		}
	}
	sets := p.inForce(tenant)
	defer sets.Release()
	d := p.decision(api.HookAdmit, &q, p.request(&q, tenant, now), at)
	d.Fallback = api.Allow
	v := eval.Judge(ctx, sets.Eval(), d, d.Fallback)
	v.ReadsNode = d.Seen != nil
	if ctx.Err() != nil {
		return 0, false
	}
	rollout.Observe(sets, tenant, v.Opinions, now)
	if len(v.Opinions) > 0 {
		p.record(d, sets.Eval(), &v, false, func() { answer(v) })
	} else {
		answer(v)
	}
	sets.Reset(ctx)
	return d.Spent + fuelOf(v.Opinions), true
}

// question is what is asked about the pod: whether it would be admitted, as it runs.
func (r *RunningPod) question() api.Question {
	q := api.Question{Op: api.Review, Pod: r.Pod, Old: r.Pod, Origin: r.Origin}
	if r.Verdict != nil {
		q.Base = r.Verdict.Mutation // what made of the document what runs
	}
	return q
}

// inForce are the sets that judge the pods of a tenant and are in force, in the order
// they are asked. The caller releases them.
func (p *Plane) inForce(tenant string) (sets rollout.Sets) {
	for _, o := range slices.Backward(p.owners) {
		if !o.Judges(tenant) {
			continue
		}
		if s, _ := o.Use(); s != nil {
			sets = append(sets, s)
		}
	}
	return sets
}

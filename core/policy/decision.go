package policy

import (
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/decisionlog"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/sched"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// decision returns the decision on a question to a hook.
func (p *Engine) decision(hook string, q *api.Question, r *abi.Request, at *sched.CurrentPolicy) *eval.Decision {
	d := &eval.Decision{Hook: hook, Node: p.cfg.Node, Request: r, Names: eval.NamesOf(q, p.cfg.Node), Cache: &p.lasts, Current: at, MutateAPI: p.cfg.MutateAPI}
	d.Look = p.nodeView.view
	if p.cfg.References != nil {
		d.References.Of = p.reference
	}
	d.See = func(tenant string, s *eval.NodeView) *abi.NodeFacts { return s.Of(tenant, p.cfg.tenant) }
	d.Exempt = p.exempt(q, d.Names)
	d.Instance = p.instance(q, r.Texts)
	return d
}

// instance returns the instance of a question's pod as its source has it, empty if that
// cannot be computed.
func (p *Engine) instance(q *api.Question, texts *pod.Texts) string {
	if q.Base != nil {
		return q.Base.Instance
	}
	instance, err := p.instances.Of(q.Pod, texts)
	if err != nil {
		p.cfg.Logger.Warn("a pod is judged without its instance", "pod", q.Pod.Namespace+"/"+q.Pod.Name, "err", err)
	}
	return instance
}

// request returns the request that policies are asked about a question.
func (p *Engine) request(q *api.Question, tenant string, now time.Time) *abi.Request {
	return &abi.Request{
		Question: q, Kind: p.cfg.Kinds[q.Origin.Source], Tenant: tenant, Changed: eval.Changes(q),
		Time: now, ClockSynchronized: p.cfg.clockSynchronized(), Texts: &pod.Texts{},
	}
}

// record records a verdict, and then answers.
func (p *Engine) record(d *eval.Decision, sets []*eval.Set, v *api.Verdict, paced bool, answer func()) {
	q := d.Request.Question
	x := &decisionlog.Recording{Request: d.Request, Sets: sets, Fallback: d.Fallback, Exempt: d.Exempt, Paced: paced, MutateAPI: d.MutateAPI, Effects: d.Effects, Answer: answer, Decision: api.Decision{
		Hook: d.Hook, Op: q.Op, First: v.At, Last: v.At, Count: 1,
		Namespace: q.Pod.Namespace, Name: q.Pod.Name, UID: q.Pod.UID, Instance: d.Instance, Replaces: q.Replaces,
		Source: q.Origin.Source, Document: q.Origin.Document, Tenant: d.Request.Tenant, Verdict: *v,
	}}
	if q.Connection != nil {
		x.Decision.Connection = q.Connection.String()
	}
	x.Decision.Verdict.Mutation, x.References = v.Mutation.Shown(), d.References.All()
	if d.Seen != nil {
		saw, sees := d.Seen, d.See
		x.Facts = func(tenant string) *abi.NodeFacts { return sees(tenant, saw) }
	}
	p.recorder.Put(x)
}

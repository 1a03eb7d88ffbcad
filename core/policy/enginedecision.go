package policy

import (
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/sched"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// decision is that on a question to a hook.
func (p *Plane) decision(hook string, q *api.Question, r *wasm.Request, at *sched.CurrentPolicy) *decision {
	d := &decision{hook: hook, node: p.cfg.Node, request: r, names: namesOf(q, p.cfg.Node), lasts: &p.lasts, at: at, mutateAPI: p.cfg.MutateAPI}
	d.look = p.ledger.look
	if p.cfg.References != nil {
		d.references.of = p.reference
	}
	d.sees = func(tenant string, s *sight) *wasm.NodeFacts { return s.of(tenant, p.cfg.tenant) }
	d.exempt = p.exempt(q, d.names)
	d.instance = p.instance(q, r.Texts)
	return d
}

// instance is the instance of a question's pod as its source gave it, empty where
// that cannot be told.
func (p *Plane) instance(q *api.Question, texts *pod.Texts) string {
	if q.Base != nil {
		return q.Base.Instance
	}
	instance, err := p.instances.of(q.Pod, texts)
	if err != nil {
		p.cfg.Logger.Warn("a pod is judged without its instance", "pod", q.Pod.Namespace+"/"+q.Pod.Name, "err", err)
	}
	return instance
}

// request is what the policies of a decision are asked: all of them the same.
func (p *Plane) request(q *api.Question, tenant string, now time.Time) *wasm.Request {
	return &wasm.Request{
		Question: q, Kind: p.cfg.Kinds[q.Origin.Source], Tenant: tenant, Changed: changes(q),
		Time: now, ClockSynchronized: p.cfg.clockSynchronized(), Texts: &pod.Texts{},
	}
}

// record puts a verdict on record, and then gives it.
func (p *Plane) record(d *decision, sets []*set, v *api.Verdict, paced bool, answer func()) {
	q := d.request.Question
	x := &recording{request: d.request, sets: sets, fallback: d.fallback, exempt: d.exempt, paced: paced, mutateAPI: d.mutateAPI, met: d.met, answer: answer, decision: api.Decision{
		Hook: d.hook, Op: q.Op, First: v.At, Last: v.At, Count: 1,
		Namespace: q.Pod.Namespace, Name: q.Pod.Name, UID: q.Pod.UID, Instance: d.instance, Replaces: q.Replaces,
		Source: q.Origin.Source, Document: q.Origin.Document, Tenant: d.request.Tenant, Verdict: *v,
	}}
	if q.Connection != nil {
		x.decision.Connection = q.Connection.String()
	}
	x.decision.Verdict.Mutation, x.references = v.Mutation.Shown(), d.references.all()
	if d.saw != nil {
		saw, sees := d.saw, d.sees
		x.facts = func(tenant string) *wasm.NodeFacts { return sees(tenant, saw) }
	}
	p.recorder.put(x)
}

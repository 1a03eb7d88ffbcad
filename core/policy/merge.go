package policy

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/decisionlog"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/rollout"
	"github.com/wardlet/wardlet/core/policy/sched"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// Rules resolves conflicts between sources by the policies with the hook merge.
type Rules struct {
	engine *Engine
	// told, if not nil, receives the opinions.
	told func([]api.Opinion)
}

// Rules returns the rules of the engine's policies.
func (p *Engine) Rules() Rules { return Rules{engine: p} }

// Telling returns the same rules with a function that receives the opinions. told is called
// for every conflict about which policies were asked, before the answer, because a
// Resolution does not contain opinions. It is called from goroutines of the engine and must
// not block.
func (r Rules) Telling(told func([]api.Opinion)) Rules {
	r.told = told
	return r
}

// Resolve asks which of the documents that claim one pod may run, and returns at once.
// answer is called once, later, from a goroutine of the engine; it is not called if Run
// returns before.
func (r Rules) Resolve(c api.Contest, answer func(api.Resolution)) {
	p, tenant := r.engine, r.engine.cfg.tenant(c.Identity.Namespace)
	of := subject{hook: api.HookMerge, identity: c.Identity}
	submit(p, of, tenant, answer, func(ctx context.Context, at *sched.CurrentPolicy, answer func(api.Resolution), later postpone) (int64, bool) {
		return r.resolve(ctx, &c, tenant, answer, later, at)
	})
}

// Changed returns a channel that receives a value when the policies in force with the hook
// merge have changed.
func (r Rules) Changed() <-chan struct{} { return r.engine.rulesChanged }

// resolve answers one conflict, unless ctx ends before, and returns the cost in fuel. It
// may postpone the conflict instead. If the tenant has spent its budget, the conflict is
// postponed: without an answer nothing of the pod starts or terminates.
func (r Rules) resolve(
	ctx context.Context, c *api.Contest, tenant string, answer func(api.Resolution), later postpone, at *sched.CurrentPolicy,
) (fuel int64, goOn bool) {
	p := r.engine
	now := p.cfg.Now()
	if wait := p.budgets.Wait(tenant, now); wait > 0 {
		_, why := sched.Exhausted(tenant)
		later(min(wait, sched.MaxPutOff), why)
		return 0, true
	}
	sets, lacking, _ := p.setsFor(tenant)
	defer sets.Release()
	decided, opinions := api.Resolution{
		Choice: api.ChooseCurrent, Message: "policies are not ready: what runs goes on",
	}, []api.Opinion(nil)
	asked := p.mergeRequest(c, tenant, now)
	if lacking == nil {
		// The operator's policies come first: they decide for all.
		slices.Reverse(sets)
		decided, opinions, fuel = eval.Choose(ctx, sets.Eval(), p.cfg.Node, asked, at)
	}
	if ctx.Err() != nil {
		return 0, false
	}
	if asked.Effects.PutOff > 0 {
		sets.Reset(ctx)
		later(asked.Effects.PutOff, asked.Effects.PutOffReason)
		return fuel, true
	}
	rollout.Observe(sets, tenant, opinions, now)
	if r.told != nil && len(opinions) > 0 {
		r.told(opinions)
	}
	decided.At = now
	for _, s := range sets {
		decided.Sets = append(decided.Sets, s.Eval.Name())
	}
	if len(opinions) > 0 || lacking != nil {
		p.recordMerge(c, asked, sets.Eval(), &decided, opinions, func() { answer(decided) })
	} else {
		answer(decided)
	}
	sets.Reset(ctx)
	if lacking == nil {
		p.shadowMerges(sets, asked, opinions)
	}
	return fuel, true
}

// recordMerge records a conflict under the pod of its first candidate, and then answers.
func (p *Engine) recordMerge(c *api.Contest, asked *eval.Conflict, sets []*eval.Set, r *api.Resolution, opinions []api.Opinion, answer func()) {
	first := &c.Candidates[0]
	p.recorder.Put(&decisionlog.Recording{Conflict: asked, Sets: sets, MutateAPI: asked.MutateAPI, Effects: asked.Effects, Answer: answer, Decision: api.Decision{
		Hook: api.HookMerge, First: r.At, Last: r.At, Count: 1,
		Namespace: c.Identity.Namespace, Name: c.Identity.Name, UID: first.Pod.UID,
		Source: first.Origin.Source, Document: first.Origin.Document, Tenant: asked.Tenant,
		Verdict: eval.MergeVerdict(r, opinions),
	}})
}

// mergeRequest returns the request that policies are asked about a conflict. The candidates
// are ordered by the rank of their source, then by source and document.
func (p *Engine) mergeRequest(c *api.Contest, tenant string, now time.Time) *eval.Conflict {
	m := &eval.Conflict{
		MergeRequest: &abi.MergeRequest{Tenant: tenant, Time: now, ClockSynchronized: p.cfg.clockSynchronized(), Texts: &pod.Texts{}},
		MutateAPI:    p.cfg.MutateAPI,
	}
	for i := range c.Candidates {
		m.Places = append(m.Places, i)
		if running := c.Candidates[i].Running; running != nil && m.Current == nil {
			m.Current = running
		}
	}
	rank := func(i int) int {
		at := slices.Index(p.cfg.Sources, c.Candidates[i].Origin.Source)
		if at < 0 {
			return len(p.cfg.Sources)
		}
		return at
	}
	slices.SortFunc(m.Places, func(a, b int) int {
		x, y := &c.Candidates[a].Origin, &c.Candidates[b].Origin
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(x.Source, y.Source), cmp.Compare(x.Document, y.Document))
	})
	for _, i := range m.Places {
		x := &c.Candidates[i]
		m.Candidates = append(m.Candidates, abi.Candidate{
			Pod: x.Pod, Origin: x.Origin, Kind: p.cfg.Kinds[x.Origin.Source], Running: x.Running != nil,
			Restored: x.Restored, FirstSeen: x.Origin.FirstSeen,
		})
	}
	m.ID = func() eval.QuestionID { return p.identity(m) }
	return m
}

// identity returns the ID of a conflict, which follows from its candidates.
func (p *Engine) identity(m *eval.Conflict) eval.QuestionID {
	text := []byte(api.HookMerge)
	for i := range m.Candidates {
		c := &m.Candidates[i]
		text = fmt.Appendf(text, " %q %q %q %q", c.Origin.Source, c.Origin.Document, c.Pod.UID, p.instance(&api.Question{Pod: c.Pod}, m.Texts))
	}
	return sha256.Sum256(text)
}

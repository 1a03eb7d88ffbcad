package policy

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/rollout"
	"github.com/wardlet/wardlet/core/policy/sched"
)

const (
	// shadowLine is the flow of questions to candidates; no tenant has this name.
	shadowLine = "\x00shadow"
	// shadowFuel is the fuel that all candidates together may use in a second: a twentieth
	// of a processor or less.
	shadowFuel = 100_000_000
	// shadowWeight is the factor by which the queue charges more for a question to a
	// candidate: questions that wait for a verdict come first.
	shadowWeight = 20
	// maxShadowed is how many questions may wait for candidates; more are skipped.
	maxShadowed = 256
)

// shadowQueue bounds the questions to candidates, which are asked after the policies in
// force have answered. It is safe for concurrent use.
type shadowQueue struct {
	waiting atomic.Int64

	mu     sync.Mutex
	budget *sched.Bucket
	// used counts the questions that use a set.
	used map[*rollout.Set]int
}

// shadows asks candidates the questions that the policies of the sets were asked. opinions
// are the answers of these policies. The caller holds the sets.
func (p *Engine) shadows(sets rollout.Sets, d *eval.Decision, opinions []api.Opinion) {
	for i := range d.Shadowed {
		x, saw, references := d.Shadowed[i], d.Seen.Again(), d.References.Again()
		x.Makes = d.Made[x.Policy.Key()]
		p.shadow(sets, &x, d.Identity(), opinions, func(ctx context.Context, at *sched.CurrentPolicy) (o eval.ShadowResult, fuel int64) {
			like := &eval.Decision{
				Hook: d.Hook, Node: d.Node, Request: x.Request, Instance: d.Instance, Names: d.Names, MutateAPI: d.MutateAPI,
				Look: d.Look, See: d.See, Seen: saw, References: references, Exempt: d.Exempt, Cache: &eval.VerdictCache{}, Current: at,
			}
			if x.LastResult != nil {
				like.Cache.Put(x.Policy.Candidate, like.LastKey(), like.Request.Tenant, x.LastResult, like.Request.Time)
			}
			o = x.Policy.Candidate.AskAsCandidate(ctx, like, x.MaxSuppress)
			return o, like.Spent + o.Fuel
		})
	}
}

// shadowMerges does the same as shadows for a conflict.
func (p *Engine) shadowMerges(sets rollout.Sets, m *eval.Conflict, opinions []api.Opinion) {
	for _, s := range sets.Eval() {
		for _, policy := range s.Policies {
			if policy.Candidate == nil || !policy.Has(api.HookMerge) && !policy.Candidate.Has(api.HookMerge) {
				continue
			}
			x := eval.ShadowQuestion{Hook: api.HookMerge, Set: s, Policy: policy, Conflict: m, Makes: m.Made[policy.Key()]}
			p.shadow(sets, &x, p.identity(m), opinions, func(ctx context.Context, at *sched.CurrentPolicy) (o eval.ShadowResult, fuel int64) {
				like := &eval.Conflict{MergeRequest: m.MergeRequest, Places: m.Places, MutateAPI: m.MutateAPI, ID: m.ID}
				c := x.Policy.Candidate
				asked, fuel, err := c.WantsContest(ctx, like, p.cfg.Node)
				if !asked {
					return eval.ShadowResult{Opinion: api.Opinion{Answer: api.Abstain}}, fuel
				}
				at.Enter(c.Name)
				defer at.Leave()
				o.Opinion, _ = c.Merge(ctx, like, err)
				o.Makes = like.Made[c.Key()]
				return o, fuel + o.Fuel + like.Extra
			})
		}
	}
}

// shadow asks one candidate when there is time, and compares its answer. If there is no
// budget the question is skipped.
func (p *Engine) shadow(
	sets rollout.Sets, x *eval.ShadowQuestion, question [sha256.Size]byte, opinions []api.Opinion, judge func(ctx context.Context, at *sched.CurrentPolicy) (eval.ShadowResult, int64),
) {
	s, c := &p.shadowQueue, x.Policy.Candidate
	used, comparison := sets.Comparison(x.Set, c.Name)
	if !s.affords(p.cfg.Now()) || s.waiting.Load() >= maxShadowed {
		comparison.Skip()
		return
	}
	s.waiting.Add(1)
	said := eval.ShadowResult{Opinion: saidBy(x, opinions), Wait: x.Wait, Makes: x.Makes}
	s.use(used)
	p.queue.Add(sched.Task{Tenant: shadowLine, Decide: func(ctx context.Context, at *sched.CurrentPolicy) (int64, bool) {
		defer s.unuse(used)
		defer s.waiting.Add(-1)
		o, fuel := judge(ctx, at)
		if ctx.Err() != nil {
			return 0, false
		}
		c.Plugin.Plugin.Reset(ctx)
		s.spend(fuel)
		if o.Failure == string(eval.BreakerOpen) {
			// The plugin would fail as before, because of the machine or by itself.
			o.Failure = cmp.Or(c.Plugin.Breakers.Opened(x.Tenant()), o.Failure)
		}
		comparison.Note(x.Hook, x.About(), question, said, o)
		return fuel * shadowWeight, true
	}})
}

// saidBy returns the opinion of the policy of a question.
func saidBy(x *eval.ShadowQuestion, opinions []api.Opinion) api.Opinion {
	i := slices.IndexFunc(opinions, func(o api.Opinion) bool { return o.Policy == x.Policy.Name && o.Tenant == x.Policy.Tenant })
	if i >= 0 {
		return opinions[i]
	}
	return api.Opinion{Answer: eval.AnswerIfNotAsked(x.Hook)}
}

// affords reports whether the budget of candidates is not empty.
func (s *shadowQueue) affords(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.budget == nil {
		s.budget = sched.NewBucket(shadowFuel, now)
	}
	return s.budget.Has(now)
}

func (s *shadowQueue) spend(fuel int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.budget.Spend(fuel)
}

func (s *shadowQueue) use(x *rollout.Set) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used == nil {
		s.used = map[*rollout.Set]int{}
	}
	s.used[x]++
	x.Eval.Users.Add(1)
}

func (s *shadowQueue) unuse(x *rollout.Set) {
	s.mu.Lock()
	if s.used[x]--; s.used[x] == 0 {
		delete(s.used, x)
	}
	s.mu.Unlock()
	x.Release()
}

// end releases the sets of questions that will not be asked.
func (s *shadowQueue) end() {
	s.mu.Lock()
	used := s.used
	s.used = nil
	s.mu.Unlock()
	for x, n := range used {
		for range n {
			x.Release()
		}
	}
}

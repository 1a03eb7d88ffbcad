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
	"github.com/wardlet/wardlet/core/policy/sched"
)

const (
	// shadowLine is where questions to candidates stand in line: no tenant is called
	// so.
	shadowLine = "\x00shadow"
	// shadowFuel is what candidates together may take in fuel in a second: a
	// twentieth of a processor or less.
	shadowFuel = 100_000_000
	// shadowWeight is how much more than others a question to a candidate is charged
	// in the queue: whoever waits for a verdict comes first.
	shadowWeight = 20
	// maxShadowed is how many questions may wait for candidates; more are skipped.
	maxShadowed = 256
)

// shadowing has candidates judge what policies in force were asked, after these were
// answered. It is safe for concurrent use.
type shadowing struct {
	waiting atomic.Int64

	mu     sync.Mutex
	budget *sched.Bucket
	// used counts the questions that use a set.
	used map[*loadedSet]int
}

// shadows has candidates judge what policies of the sets were asked; opinions are what
// those said. The sets are in use.
func (p *Plane) shadows(sets loadedSets, d *decision, opinions []api.Opinion) {
	for i := range d.shadowed {
		x, saw, references := d.shadowed[i], d.saw.again(), d.references.again()
		x.makes = d.made[x.policy.owned()]
		p.shadow(sets, &x, d.identity(), opinions, func(ctx context.Context, at *sched.CurrentPolicy) (o saying, fuel int64) {
			like := &decision{
				hook: d.hook, node: d.node, request: x.request, instance: d.instance, names: d.names, mutateAPI: d.mutateAPI,
				look: d.look, sees: d.sees, saw: saw, references: references, exempt: d.exempt, lasts: &lasts{}, at: at,
			}
			if x.last != nil {
				like.lasts.put(x.policy.candidate, like.lastKey(), like.request.Tenant, x.last, like.request.Time)
			}
			o = x.policy.candidate.alone(ctx, like, x.most)
			return o, like.spent + o.Fuel
		})
	}
}

// shadowMerges is shadows for a contest.
func (p *Plane) shadowMerges(sets loadedSets, m *contest, opinions []api.Opinion) {
	for _, s := range sets.sets() {
		for _, policy := range s.policies {
			if policy.candidate == nil || !policy.has(api.HookMerge) && !policy.candidate.has(api.HookMerge) {
				continue
			}
			x := shadowed{hook: api.HookMerge, set: s, policy: policy, contest: m, makes: m.made[policy.owned()]}
			p.shadow(sets, &x, p.identity(m), opinions, func(ctx context.Context, at *sched.CurrentPolicy) (o saying, fuel int64) {
				like := &contest{MergeRequest: m.MergeRequest, places: m.places, mutateAPI: m.mutateAPI, id: m.id}
				c := x.policy.candidate
				asked, fuel, err := c.wantsContest(ctx, like, p.cfg.Node)
				if !asked {
					return saying{Opinion: api.Opinion{Answer: api.Abstain}}, fuel
				}
				at.Enter(c.Name)
				defer at.Leave()
				o.Opinion, _ = c.merge(ctx, like, err)
				o.makes = like.made[c.owned()]
				return o, fuel + o.Fuel + like.extra
			})
		}
	}
}

// shadow has one candidate judge, once there is time for that, and compares what it
// says. Where there is no budget for it the question is skipped.
func (p *Plane) shadow(
	sets loadedSets, x *shadowed, question [sha256.Size]byte, opinions []api.Opinion, judge func(ctx context.Context, at *sched.CurrentPolicy) (saying, int64),
) {
	s, c := &p.shadowing, x.policy.candidate
	used, comparison := sets.comparison(x.set, c.Name)
	if !s.affords(p.cfg.Now()) || s.waiting.Load() >= maxShadowed {
		comparison.skip()
		return
	}
	s.waiting.Add(1)
	said := saying{saidBy(x, opinions), x.wait, x.makes}
	s.use(used)
	p.queue.Add(sched.Task{Tenant: shadowLine, Decide: func(ctx context.Context, at *sched.CurrentPolicy) (int64, bool) {
		defer s.unuse(used)
		defer s.waiting.Add(-1)
		o, fuel := judge(ctx, at)
		if ctx.Err() != nil {
			return 0, false
		}
		c.plugin.plugin.Settle(ctx)
		s.spend(fuel)
		if o.Failure == string(breakerOpen) {
			// It would fail as it did before, by the machine or by itself.
			o.Failure = cmp.Or(c.plugin.breakers.opened(x.tenant()), o.Failure)
		}
		comparison.note(x.hook, x.about(), question, said, o)
		return fuel * shadowWeight, true
	}})
}

// saidBy is what the policy of a question said itself.
func saidBy(x *shadowed, opinions []api.Opinion) api.Opinion {
	i := slices.IndexFunc(opinions, func(o api.Opinion) bool { return o.Policy == x.policy.Name && o.Tenant == x.policy.tenant })
	if i >= 0 {
		return opinions[i]
	}
	return api.Opinion{Answer: notAskedAnswer(x.hook)}
}

// tenant is whose pods a question is about.
func (x *shadowed) tenant() string {
	if x.contest != nil {
		return x.contest.Tenant
	}
	return x.request.Tenant
}

// about names what a question is about.
func (x *shadowed) about() string {
	if x.contest != nil {
		p := x.contest.Candidates[0].Pod
		return p.Namespace + "/" + p.Name
	}
	p := x.request.Question.Pod
	return p.Namespace + "/" + p.Name
}

// affords reports whether candidates have some of their budget left.
func (s *shadowing) affords(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.budget == nil {
		s.budget = sched.NewBucket(shadowFuel, now)
	}
	return s.budget.Has(now)
}

func (s *shadowing) spend(fuel int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.budget.Spend(fuel)
}

func (s *shadowing) use(x *loadedSet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used == nil {
		s.used = map[*loadedSet]int{}
	}
	s.used[x]++
	x.set.users.Add(1)
}

func (s *shadowing) unuse(x *loadedSet) {
	s.mu.Lock()
	if s.used[x]--; s.used[x] == 0 {
		delete(s.used, x)
	}
	s.mu.Unlock()
	x.release()
}

// end gives the sets back that questions were to use which nobody asks any more.
func (s *shadowing) end() {
	s.mu.Lock()
	used := s.used
	s.used = nil
	s.mu.Unlock()
	for x, n := range used {
		for range n {
			x.release()
		}
	}
}

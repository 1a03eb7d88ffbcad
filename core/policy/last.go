package policy

import (
	"container/list"
	"slices"
	"sync"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/writeback"
	"github.com/wardlet/wardlet/core/policy/spec"
	"github.com/wardlet/wardlet/core/state"
)

// maxLasts is how many verdicts are kept, of all policies together.
const maxLasts = 4096

// lasts are the newest verdicts that policies gave on instances of pods, for
// on_error = "last_verdict". Where there are too many, the tenant that has most
// loses those of the pod that was not used for longest. It is safe for concurrent
// use, and nil where nobody keeps any; the zero value keeps them in memory only.
type lasts struct {
	mu    sync.Mutex
	known map[string]*list.Element
	// orders are the instances of each tenant's pods by use, the newest first; a
	// value is a *state.LastOpinions.
	orders map[string]*list.List
	// counts are how many verdicts there are on the pods of each tenant, total of
	// all.
	counts map[string]int
	total  int

	// kept is what is to be on the disk, nil where nothing is written.
	kept *writeback.Map[string, state.LastOpinions]
}

// put remembers what a policy said of an instance of a tenant's pod.
func (l *lasts) put(p *policy, instance, tenant string, o *opinion, now time.Time) {
	if l == nil || instance == "" || p.OnError != spec.LastVerdict {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.use(instance)
	if all == nil {
		all = l.begin(&state.LastOpinions{Instance: instance, Tenant: tenant})
	}
	all.At = now
	said := state.LastOpinion{
		Policy: p.Name, Tenant: p.tenant, Answer: o.Answer, Reason: o.Reason, Message: o.Message, RetryAfter: o.retryAfter, Changed: o.Patch != "",
	}
	if one := find(all, p); one != nil {
		// Words that differ each time are not worth a write.
		differs := one.Answer != said.Answer || one.Reason != said.Reason || one.Changed != said.Changed
		*one = said
		if differs {
			l.keep(all)
		}
		return
	}
	all.Opinions = append(all.Opinions, said)
	l.counts[all.Tenant]++
	l.total++
	l.keep(all)
	l.shrink()
}

// get is what a policy said of an instance.
func (l *lasts) get(p *policy, instance string) (opinion, bool) {
	if l == nil || instance == "" {
		return opinion{}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	one := find(l.use(instance), p)
	if one == nil {
		return opinion{}, false
	}
	o := opinion{api.Opinion{Answer: one.Answer, Reason: one.Reason, Message: one.Message}, one.RetryAfter}
	if one.Changed {
		o.Patch = "not kept"
	}
	return o, true
}

// find gives a policy's opinion among those of an instance, nil for none.
func find(all *state.LastOpinions, p *policy) *state.LastOpinion {
	for i := 0; all != nil && i < len(all.Opinions); i++ {
		if one := &all.Opinions[i]; one.Policy == p.Name && one.Tenant == p.tenant {
			return one
		}
	}
	return nil
}

// use gives what is known of an instance, nil for nothing, as the newest in use.
// The lock is held, as for what follows.
func (l *lasts) use(instance string) *state.LastOpinions {
	e := l.known[instance]
	if e == nil {
		return nil
	}
	all, _ := e.Value.(*state.LastOpinions)
	l.orders[all.Tenant].MoveToFront(e)
	return all
}

// begin takes an instance in, with the opinions on it.
func (l *lasts) begin(all *state.LastOpinions) *state.LastOpinions {
	if l.known == nil {
		l.known, l.orders, l.counts = map[string]*list.Element{}, map[string]*list.List{}, map[string]int{}
	}
	order := l.orders[all.Tenant]
	if order == nil {
		order = list.New()
		l.orders[all.Tenant] = order
	}
	l.known[all.Instance] = order.PushFront(all)
	l.counts[all.Tenant] += len(all.Opinions)
	l.total += len(all.Opinions)
	return all
}

// shrink forgets instances until there are no more verdicts than may be.
func (l *lasts) shrink() {
	for l.total > maxLasts {
		most := ""
		for tenant, n := range l.counts {
			if n > l.counts[most] {
				most = tenant
			}
		}
		order := l.orders[most]
		gone, _ := order.Remove(order.Back()).(*state.LastOpinions)
		delete(l.known, gone.Instance)
		l.counts[most] -= len(gone.Opinions)
		l.total -= len(gone.Opinions)
		if l.kept != nil {
			l.kept.Remove(gone.Instance)
		}
	}
}

// keep has the disk brought to what is known of an instance.
func (l *lasts) keep(all *state.LastOpinions) {
	if l.kept == nil {
		return
	}
	one := *all
	one.Opinions = slices.Clone(all.Opinions)
	l.kept.Set(all.Instance, one)
}

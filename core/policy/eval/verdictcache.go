package eval

import (
	"container/list"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/writeback"
	"github.com/wardlet/wardlet/core/policy/spec"
	"github.com/wardlet/wardlet/core/state"
	"github.com/wardlet/wardlet/core/state/decisions"
)

// maxLasts is how many verdicts are kept, of all policies together.
const maxLasts = 4096

// VerdictCache keeps the newest answers of policies on instances of pods, for on_error =
// "last_verdict". When it is full, it drops the answers on the least recently used pod of
// the tenant with most answers. It is safe for concurrent use. A nil cache keeps no
// answers; the zero value keeps them in memory only.
type VerdictCache struct {
	mu    sync.Mutex
	known map[string]*list.Element
	// orders are the instances of each tenant's pods by use, the newest first; a
	// value is a *state.LastOpinions.
	orders map[string]*list.List
	// counts are the numbers of verdicts on the pods of each tenant. total is their sum.
	counts map[string]int
	total  int

	// kept has what is to be on the disk, nil if nothing is written.
	kept *writeback.Map[string, state.LastOpinions]
}

// Put records what a policy said about an instance of a tenant's pod.
func (l *VerdictCache) Put(p *Policy, instance, tenant string, o *PolicyResult, now time.Time) {
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
	said := decisions.LastOpinion{
		Policy: p.Name, Tenant: p.Tenant, Answer: o.Answer, Reason: o.Reason, Message: o.Message, RetryAfter: o.retryAfter, Changed: o.Patch != "",
	}
	if one := find(all, p); one != nil {
		// A message that differs each time is not worth a write.
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

// get returns what a policy said about an instance.
func (l *VerdictCache) get(p *Policy, instance string) (PolicyResult, bool) {
	if l == nil || instance == "" {
		return PolicyResult{}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	one := find(l.use(instance), p)
	if one == nil {
		return PolicyResult{}, false
	}
	o := PolicyResult{api.Opinion{Answer: one.Answer, Reason: one.Reason, Message: one.Message}, one.RetryAfter}
	if one.Changed {
		o.Patch = "not kept"
	}
	return o, true
}

// find returns a policy's opinion among those of an instance, nil for none.
func find(all *state.LastOpinions, p *Policy) *decisions.LastOpinion {
	for i := 0; all != nil && i < len(all.Opinions); i++ {
		if one := &all.Opinions[i]; one.Policy == p.Name && one.Tenant == p.Tenant {
			return one
		}
	}
	return nil
}

// use returns the opinions on an instance, nil for none, and makes it the most recently
// used. The lock is held, as in the following methods.
func (l *VerdictCache) use(instance string) *state.LastOpinions {
	e := l.known[instance]
	if e == nil {
		return nil
	}
	all, _ := e.Value.(*state.LastOpinions)
	l.orders[all.Tenant].MoveToFront(e)
	return all
}

// begin adds an instance with the opinions on it.
func (l *VerdictCache) begin(all *state.LastOpinions) *state.LastOpinions {
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

// shrink drops instances until the cache is not too large.
func (l *VerdictCache) shrink() {
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

// keep writes the opinions on an instance to the disk, soon.
func (l *VerdictCache) keep(all *state.LastOpinions) {
	if l.kept == nil {
		return
	}
	one := *all
	one.Opinions = slices.Clone(all.Opinions)
	l.kept.Set(all.Instance, one)
}

// Remember adds an earlier answer of a policy, from a record.
func (d *Decision) Remember(last *decisions.LastOpinion) {
	o := &PolicyResult{api.Opinion{Answer: last.Answer, Reason: last.Reason, Message: last.Message}, last.RetryAfter}
	if last.Changed {
		o.Patch = "not kept"
	}
	d.Cache.Put(&Policy{Document: &spec.Document{Keys: spec.Keys{Name: last.Policy, OnError: spec.LastVerdict}}, Tenant: last.Tenant}, d.LastKey(), d.Request.Tenant, o, d.Request.Time)
}

const (
	// LastsBatch is how long verdicts are gathered before they are written, so that
	// the disk is written to at most once in that time; a crash loses no more.
	LastsBatch = time.Second
	// LastsRetry is the delay before a failed write is tried again.
	LastsRetry = 10 * time.Second
)

// Opinions keeps the answers of policies with on_error = "last_verdict" over a restart.
// state.Opinions implements it.
type Opinions interface {
	// Load returns all records, the oldest first.
	Load() ([]state.LastOpinions, []error)
	// Apply stores the records in put, which replace earlier records of the same instances,
	// and removes the records of the instances in remove.
	Apply(put []state.LastOpinions, remove []string) error
}

// Load reads what an earlier process stored. Run writes what is added later. Many instances
// come and go, so records on a disk that fails are not tracked: the next start reads them,
// and drops them in turn.
func (l *VerdictCache) Load(disk Opinions, log *slog.Logger) {
	all, errs := disk.Load()
	for _, err := range errs {
		log.Error("the last decisions of policies cannot be read", "err", err)
	}
	said := false
	report := func(_ string, err error) {
		if err != nil && !said {
			log.Error("the last decisions of policies are not saved; a restart loses them", "err", err, "again", LastsRetry)
		}
		said = err != nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = writeback.New(disk, writeback.Options[string]{Delay: LastsBatch, Retry: LastsRetry, Report: report, Forgetful: true})
	for i := range all {
		l.kept.Loaded(all[i].Instance, all[i])
		if l.known[all[i].Instance] == nil {
			one := all[i]
			l.begin(&one)
		}
	}
	l.shrink()
}

// Run writes the verdicts to the disk until ctx ends. Load must have returned.
func (l *VerdictCache) Run(ctx context.Context) { _ = l.kept.Run(ctx) }

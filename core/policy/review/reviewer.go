package review

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/spec"
)

const (
	// reviewTick is how often the reviewer looks while it has something to do.
	reviewTick = time.Second
	// Period is how often the reviewer looks otherwise: there may be new pods that other
	// sets have admitted.
	Period = 10 * time.Second
)

// Reviewer re-evaluates running pods that were admitted by other sets than those in force,
// one question of each tenant at a time, and acts on the verdicts. All but shown belongs to
// the goroutine of Run.
type Reviewer struct {
	cfg     Options
	running Running
	// changed receives a value when another set is in force. It has room for one value.
	// orders is not buffered. answers has room for one answer of each tenant, and so never
	// blocks. The channels are never closed.
	changed chan struct{}
	orders  chan confirmation
	answers chan reviewAnswer

	looked time.Time
	pods   map[types.UID]*reviewedPod
	// pending are the pods to be judged, by tenant. open is the question in flight, by
	// tenant.
	pending  map[string][]*reviewedPod
	open     map[string]*inquiry
	limiters map[string]*evictionLimiter
	// evicting reports that pods are to be evicted, and that their eviction does not wait
	// for a confirmation.
	evicting bool
	// seen are the pods on the node at the time seenAt, nil while no policy judges running
	// pods by what it sees of the node.
	seen   map[types.UID]*v1.Pod
	seenAt time.Time

	shown shownReviews
}

// reviewedPod is a running pod, and the newest opinions about it.
type reviewedPod struct {
	RunningPod

	tenant string
	// sets identifies the sets that returned the opinions, empty for none yet.
	sets     string
	opinions []api.Opinion
	// references are what policies have read of the objects that the pod names.
	references []api.SeenReference
	// rejection is the opinion of a policy that rejects all documents which claim the
	// pod's identity, nil for none.
	rejection *api.Opinion
	// asking reports that a question about the pod is pending or in flight. recheck reports
	// that the reason is an eviction that is due. fresh reports that the opinions have just
	// arrived.
	asking, recheck, fresh bool
	// again is when the same sets judge the pod again, zero for never. tries is how often
	// they could not decide. readsNode reports that they have seen the node.
	again     time.Time
	tries     int
	readsNode bool
	// refused is how often the pod could not be evicted. refusal is the last reason.
	// Eviction is not tried again before leftUntil.
	refused   int
	refusal   error
	leftUntil time.Time
	// violation is what is shown with the pod. told is what the last event was about.
	violation Violation
	told      string
}

// inquiry is a question about a pod.
type inquiry struct {
	of *reviewedPod
	// putOff reports that the question waits because its tenant has spent its budget.
	putOff atomic.Bool
}

// reviewAnswer is the answer to a question about a pod.
type reviewAnswer struct {
	of      *reviewedPod
	pod     *v1.Pod
	verdict api.Verdict
}

// New returns a reviewer; Run starts it.
func New(o Options) *Reviewer {
	r := &Reviewer{
		cfg: o, running: o.Running, changed: make(chan struct{}, 1), orders: make(chan confirmation),
		answers: make(chan reviewAnswer, o.Tenants+1), pods: map[types.UID]*reviewedPod{}, pending: map[string][]*reviewedPod{},
		open: map[string]*inquiry{}, limiters: map[string]*evictionLimiter{},
	}
	for _, owner := range o.Owners {
		r.limiters[owner.Tenant] = newEvictionLimiter(o.Evictions, owner.Tenant)
	}
	return r
}

// Wake reports that another set is in force. The reviewer may be nil.
func (r *Reviewer) Wake() {
	if r == nil {
		return
	}
	select {
	case r.changed <- struct{}{}:
	default: // a pending signal is enough
	}
}

// Run works until ctx ends.
func (r *Reviewer) Run(ctx context.Context) {
	tick := time.NewTicker(reviewTick)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.changed:
		case <-tick.C:
			if !r.busy() && r.cfg.Now().Sub(r.looked) < Period {
				continue
			}
		case x := <-r.orders:
			x.done <- r.confirm(&x)
		case a := <-r.answers:
			if r.takeAnswer(&a); !r.isIdle() {
				f := r.effective()
				r.submit(f)
				f.release()
				continue
			}
		}
		r.step(ctx)
	}
}

// busy reports whether pods are to be judged or evicted soon.
func (r *Reviewer) busy() bool {
	for _, rv := range r.pods {
		if rv.asking {
			return true
		}
	}
	return r.evicting || !r.isIdle()
}

// isIdle reports whether nothing is pending or in flight.
func (r *Reviewer) isIdle() bool {
	for _, pending := range r.pending {
		if len(pending) > 0 {
			return false
		}
	}
	return len(r.open) == 0
}

// isOutOfBudget reports whether the question about one of a tenant's pods waits for its
// budget. The tenant's other pods wait for that question.
func (r *Reviewer) isOutOfBudget(tenant string) bool {
	open := r.open[tenant]
	return open != nil && open.putOff.Load()
}

func (r *Reviewer) step(ctx context.Context) {
	f := r.effective()
	defer f.release()
	r.compare(f)
	r.act(ctx, f)
	r.submit(f)
	r.display(f)
}

// compare compares the running pods with those that were judged.
func (r *Reviewer) compare(f *effectiveSets) {
	r.looked = r.cfg.Now()
	if !f.reviews() && len(r.pods) == 0 {
		return
	}
	there := map[types.UID]bool{}
	for _, run := range r.running.Pods() {
		there[run.Pod.UID] = true
		r.addPod(f, run)
	}
	for uid, rv := range r.pods {
		if !there[uid] {
			r.removePod(rv)
		}
	}
	r.watch(f)
	r.watchReferences()
	r.pending = map[string][]*reviewedPod{}
	for _, rv := range r.pods {
		rv.asking = rv.recheck || rv.sets != f.of(rv.tenant).key || rv.judgesAgain(r.looked)
		if open := r.open[rv.tenant]; rv.asking && (open == nil || open.of != rv) {
			r.pending[rv.tenant] = append(r.pending[rv.tenant], rv)
		}
	}
	for _, pending := range r.pending {
		slices.SortFunc(pending, byName)
	}
}

// addPod adds a running pod. A pod that the sets in force have admitted counts as judged.
func (r *Reviewer) addPod(f *effectiveSets, run RunningPod) {
	tenant := r.cfg.Engine.TenantOf(run.Pod.Namespace)
	now := f.of(tenant)
	rv := r.pods[run.Pod.UID]
	if rv != nil && (!now.reviews || rv.Pod != run.Pod && !pod.SameInstance(rv.Pod, run.Pod)) {
		r.removePod(rv)
		rv = nil
	}
	switch {
	case !now.reviews:
		return
	case rv == nil:
		rv = &reviewedPod{tenant: tenant}
		if v := run.Verdict; v != nil && keyOfSets(v.Sets) == now.key {
			rv.RunningPod, rv.sets, rv.opinions, rv.references = run, now.key, v.Opinions, v.References
			r.plan(f, rv, v)
		}
		r.pods[run.Pod.UID] = rv
	}
	rv.RunningPod, rv.rejection = run, f.rejection(&run, tenant)
}

// removePod removes a pod, and what is shown with it.
func (r *Reviewer) removePod(rv *reviewedPod) {
	if rv.violation.Message != "" {
		r.running.Violates(rv.Pod, Violation{})
	}
	delete(r.pods, rv.Pod.UID)
}

// submit asks the next question of each tenant that has none in flight. Questions about new
// pods may be decided in between.
func (r *Reviewer) submit(f *effectiveSets) {
	for tenant, pending := range r.pending {
		if len(pending) == 0 || r.open[tenant] != nil || !r.cfg.Engine.IsReady(tenant) || r.cfg.Engine.IsBehind(tenant) {
			continue
		}
		rv := pending[0]
		r.pending[tenant] = pending[1:]
		if r.pods[rv.Pod.UID] != rv || !f.of(tenant).reviews {
			continue
		}
		x := &inquiry{of: rv}
		r.open[tenant] = x
		run := rv.RunningPod
		answer := func(v api.Verdict) { r.answers <- reviewAnswer{rv, run.Pod, v} }
		r.cfg.Engine.Review(run, tenant, answer, func() { x.putOff.Store(true) })
	}
}

// takeAnswer records an answer, unless the pod has changed.
func (r *Reviewer) takeAnswer(a *reviewAnswer) {
	rv, v := a.of, &a.verdict
	delete(r.open, rv.tenant)
	if r.pods[a.pod.UID] != rv || rv.Pod != a.pod && !pod.SameInstance(rv.Pod, a.pod) {
		return
	}
	rv.asking, rv.recheck, rv.fresh = false, false, true
	sets := keyOfSets(v.Sets)
	if rv.sets != sets {
		rv.tries = 0
	}
	rv.sets, rv.opinions, rv.readsNode, rv.references = sets, v.Opinions, v.ReadsNode, v.References
	f := r.effective()
	defer f.release()
	r.plan(f, rv, v)
	r.running.Judged(v.Opinions)
}

func byName(a, b *reviewedPod) int {
	return cmp.Or(cmp.Compare(a.Pod.Namespace, b.Pod.Namespace), cmp.Compare(a.Pod.Name, b.Pod.Name), cmp.Compare(a.Pod.UID, b.Pod.UID))
}

// shownReviews has how policies have judged running pods, for `get policies`.
type shownReviews struct {
	mu sync.Mutex
	of map[eval.PolicyKey]api.PolicyReview
}

// Show sets what `get policies` shows. The reviewer may be nil.
func (r *Reviewer) Show(s *api.PolicySet) {
	if r == nil {
		return
	}
	r.shown.mu.Lock()
	defer r.shown.mu.Unlock()
	for i := range s.Policies {
		if shown, ok := r.shown.of[eval.PolicyKey{Tenant: s.Tenant, Policy: s.Policies[i].Name}]; ok && s.Policies[i].OnChange != spec.OnChangeIgnore {
			s.Policies[i].Review = &shown
		}
	}
}

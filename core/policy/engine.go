package policy

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wardlet/wardlet/core/admission/pacing"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/decisionlog"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/review"
	"github.com/wardlet/wardlet/core/policy/rollout"
	"github.com/wardlet/wardlet/core/policy/sched"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// shutdownTime is how long goroutines may take to return when Run ends.
const shutdownTime = 2 * time.Second

// Engine answers questions by the policy sets in force. See the package comment for its
// goroutines.
type Engine struct {
	cfg       Config
	owners    []*rollout.Owner
	queue     *sched.Queue
	decisions decisionlog.Decisions
	recorder  *decisionlog.Recorder
	lasts     eval.VerdictCache
	instances eval.InstanceCache
	nodeView  nodeView
	pacing    pacing.Pacing
	budgets   *sched.Budgets
	// terms are the terms in force. setting is locked while they change.
	terms     atomic.Pointer[Terms]
	setting   sync.Mutex
	watchers  nodeWatchers
	referring referringPods
	// reviewer is nil if running pods are not judged.
	reviewer    *review.Reviewer
	inflight    inflight
	shadowQueue shadowQueue
	// changed, rulesChanged and filtersChanged receive a value when the policies in force
	// with the hook admit, merge or filter have changed.
	changed, rulesChanged, filtersChanged chan struct{}
}

// New returns an engine; Run starts it.
func New(c Config) *Engine {
	p := &Engine{
		cfg: c, changed: make(chan struct{}, 1), rulesChanged: make(chan struct{}, 1), filtersChanged: make(chan struct{}, 1),
	}
	terms := c.Terms()
	p.terms.Store(&terms)
	p.watchers.changed = make(chan struct{}, 1)
	p.pacing.Tenant = p.cfg.tenant
	p.nodeView.node, p.budgets = c.Facts, sched.NewBudgets(terms.rates(), c.Now())
	if c.Records != nil {
		p.cfg.Records = decisionlog.NewPaidRecords(c.Records, p.budgets, c.Now)
	}
	p.queue = sched.NewQueue(func(tenant string) bool { return tenant == shadowLine || p.ready(tenant) && !p.recorder.Behind(tenant) }, c.evaluators())
	p.recorder = decisionlog.NewRecorder(p.cfg.recorder(), &p.decisions, p.queue.Wake)
	p.makeOwners()
	if c.Running != nil {
		p.reviewer = review.New(review.Options{
			Running: c.Running, Evictions: c.Evictions, Owners: p.owners, Tenants: len(c.Tenants), Node: c.Node, Engine: reviewerEngine{p},
			Logger: c.Logger, Now: c.Now,
		})
	}
	return p
}

// Judge asks for a verdict on one instance of a pod and returns at once. answer is called
// once, later, from a goroutine of the engine, and must return soon; it is not called if
// Run returns before there is a verdict. Questions wait until the agent has tried to load
// each set that could match.
func (p *Engine) Judge(q api.Question, answer func(api.Verdict)) {
	tenant := p.cfg.tenant(q.Pod.Namespace)
	submit(p, subject{hook: api.HookAdmit, uid: q.Pod.UID}, tenant, answer, func(ctx context.Context, at *sched.CurrentPolicy, answer func(api.Verdict), later postpone) (int64, bool) {
		return p.judge(ctx, &q, tenant, answer, later, at)
	})
}

// Changed returns a channel that receives a value when another set has come into force:
// pods that are held or denied may now be judged differently.
func (p *Engine) Changed() <-chan struct{} { return p.changed }

// Sets returns the states of all sets, the operator's first.
func (p *Engine) Sets() []api.PolicySet {
	sets := make([]api.PolicySet, len(p.owners))
	for i, o := range p.owners {
		sets[i] = o.Show()
		p.reviewer.Show(&sets[i])
	}
	return sets
}

// Decisions returns the newest decisions, newest last. Pods that no policy is asked about
// have none.
func (p *Engine) Decisions() []api.Decision { return p.decisions.Newest() }

// signal reports that an owner's policies in force have changed, so that questions are
// asked again. Before the first attempt to load a set only conflicts are: their answers are
// kept over a restart. hooks are the hooks of the policies in force and of the previous
// ones.
func (p *Engine) signal(o *rollout.Owner, hooks map[string]bool) {
	p.reviewer.Wake()
	tell := func(changed chan<- struct{}) {
		select {
		case changed <- struct{}{}:
		default: // a pending signal is enough
		}
	}
	tried := o.WasTried()
	if tried {
		tell(p.changed) // pods that wait for a first set are judged again
	}
	if tried && hooks[api.HookMerge] || !tried && hooks[rollout.NotAsBefore] {
		tell(p.rulesChanged)
	}
	if tried && hooks[api.HookFilter] {
		tell(p.filtersChanged)
	}
}

// Run loads the policies, keeps them up to date and answers questions until ctx ends; it
// returns the error of ctx. It must be called once. If a goroutine is still in a plugin
// after two seconds, the policy is logged and Run returns.
func (p *Engine) Run(ctx context.Context) error {
	var running sync.WaitGroup
	if p.cfg.Opinions != nil {
		p.lasts.Load(p.cfg.Opinions, p.cfg.Logger)
		running.Go(func() { p.lasts.Run(ctx) })
	}
	for _, o := range p.owners {
		running.Go(func() { o.Run(ctx) })
	}
	running.Go(func() { p.watchNode(ctx) })
	running.Go(func() { p.watchReferences(ctx) })
	if p.reviewer != nil {
		running.Go(func() { p.reviewer.Run(ctx) })
	}
	if p.cfg.Records != nil {
		running.Go(func() { p.recorder.Run(ctx) })
	}
	// Besides the evaluators that work, there may be one for each flow that pauses.
	evaluators := make([]sched.CurrentPolicy, p.cfg.evaluators()+min(len(p.cfg.Tenants), wasm.MaxPaused))
	for i := range evaluators {
		running.Go(func() { p.evaluate(ctx, &evaluators[i]) })
	}
	<-ctx.Done()
	p.queue.Close()

	back := make(chan struct{})
	go func() {
		running.Wait()
		close(back)
	}()
	patience := time.NewTimer(shutdownTime)
	defer patience.Stop()
	select {
	case <-back:
		p.shadowQueue.end()
		for _, o := range p.owners {
			o.End(p.cfg.Now())
		}
	case <-patience.C:
		p.reportStuck(evaluators)
	}
	return ctx.Err()
}

// reportStuck logs the policies whose plugins have not returned.
func (p *Engine) reportStuck(evaluators []sched.CurrentPolicy) {
	given := false
	say := func(name string) {
		if name != "" {
			given = true
			p.cfg.Logger.Error("a plugin does not return and is abandoned; it uses a CPU until this process ends", "policy", name)
		}
	}
	for _, o := range p.owners {
		say(o.Current())
	}
	for i := range evaluators {
		say(evaluators[i].Name())
	}
	if !given {
		p.cfg.Logger.Error("the decision plane did not end in time and is given up", "after", shutdownTime)
	}
}

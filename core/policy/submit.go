package policy

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/sched"
)

// inflight has the questions without an answer, to show what each of them waits for. The
// zero value is ready.
type inflight struct {
	mu sync.Mutex
	// of are the questions by their subject; newest last.
	of map[subject][]*question
}

// subject is what a question is about: a pod by its UID, or an identity that several
// documents claim.
type subject struct {
	hook     string
	uid      types.UID
	identity types.NamespacedName
}

// question is a question without an answer. The lock of inflight protects it.
type question struct {
	stage stage
	// why is what a postponed question waits for.
	why string
	// at is the current policy of the evaluator that decides the question, nil for none.
	at *sched.CurrentPolicy
}

// postpone adds a question that has no answer yet to the queue again after a while. why
// says what the question waits for. After Run it does nothing.
type postpone func(wait time.Duration, why string)

// submit adds a question to the queue: it is in flight until it is answered.
func submit[T any](
	p *Engine, of subject, tenant string, answer func(T),
	decide func(ctx context.Context, at *sched.CurrentPolicy, answer func(T), later postpone) (int64, bool),
) {
	a := p.inflight.begin(of)
	answered := func(v T) {
		p.inflight.end(of, a)
		answer(v)
	}
	t := sched.Task{Tenant: tenant}
	later := func(wait time.Duration, why string) {
		p.inflight.put(a, postponed, why)
		time.AfterFunc(wait, func() {
			p.inflight.put(a, queued, "")
			p.queue.Add(t)
		})
	}
	t.Decide = func(ctx context.Context, at *sched.CurrentPolicy) (int64, bool) {
		p.inflight.enter(a, at)
		defer p.inflight.leave(a, at)
		return decide(ctx, at, answered, later)
	}
	p.queue.Add(t)
}

func (o *inflight) begin(of subject) *question {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.of == nil {
		o.of = map[subject][]*question{}
	}
	a := &question{stage: queued}
	o.of[of] = append(o.of[of], a)
	return a
}

func (o *inflight) end(of subject, a *question) {
	o.mu.Lock()
	defer o.mu.Unlock()
	others := slices.DeleteFunc(o.of[of], func(have *question) bool { return have == a })
	if o.of[of] = others; len(others) == 0 {
		delete(o.of, of)
	}
}

func (o *inflight) enter(a *question, at *sched.CurrentPolicy) {
	o.mu.Lock()
	defer o.mu.Unlock()
	a.stage, a.at = inProgress, at
}

// leave records that an evaluator is done with a question, which may have been postponed.
func (o *inflight) leave(a *question, at *sched.CurrentPolicy) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if a.at == at {
		a.stage, a.at = decided, nil
	}
}

// put sets the stage of a question that no evaluator works on.
func (o *inflight) put(a *question, to stage, why string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	a.stage, a.why, a.at = to, why, nil
}

// The states of a question without an answer.
type stage int

const (
	unknown stage = iota
	queued
	inProgress
	// postponed: the budget of its tenant is empty, or a breaker is open.
	postponed
	decided
)

// state returns the stage of the newest question about a subject, the policy that is
// being asked, empty for none, and why it was postponed.
func (o *inflight) state(of subject) (at stage, policy, why string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := o.of[of]
	if len(all) == 0 {
		return unknown, "", ""
	}
	a := all[len(all)-1]
	if a.at != nil {
		policy = a.at.Name()
	}
	return a.stage, policy, a.why
}

// Asked returns what the answer to a question about a pod of this name and UID waits for:
// the policy that is being asked, empty for none, and a message. Both are empty if there
// is no such question.
func (p *Engine) Asked(hook string, name types.NamespacedName, uid types.UID) (policy, message string) {
	of := subject{hook: hook, uid: uid}
	if hook == api.HookMerge {
		of = subject{hook: hook, identity: name}
	}
	tenant := p.cfg.tenant(name.Namespace)
	switch at, policy, why := p.inflight.state(of); {
	case at == queued:
		return "", p.queueReason(tenant)
	case at == postponed:
		return "", why
	case at == decided:
		return "", "it is decided, and answered once that is on record"
	case policy != "":
		return policy, fmt.Sprintf("policy %q is being asked", policy)
	case at == inProgress:
		return "", "it is being decided"
	}
	return "", ""
}

// queueReason explains why a tenant's queued questions have not been taken.
func (p *Engine) queueReason(tenant string) string {
	for _, o := range p.owners {
		if o.Judges(tenant) && !o.WasTried() {
			return fmt.Sprintf("the policies of %s are being loaded for the first time", o.Dir)
		}
	}
	if p.recorder.Behind(tenant) {
		return "too many decisions before it wait to be put on record"
	}
	return "other questions come first"
}

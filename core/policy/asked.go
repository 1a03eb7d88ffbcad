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

// openQuestions know the questions that have no answer yet, so that it can be said
// what each waits for. The zero value is ready.
type openQuestions struct {
	mu sync.Mutex
	// of are the questions by what they are about; newest last.
	of map[about][]*asked
}

// about is what a question is about: a pod by its UID, or an identity that several
// documents claim.
type about struct {
	hook     string
	uid      types.UID
	identity types.NamespacedName
}

// asked is a question without an answer. It is read and changed with the lock of
// openQuestions held.
type asked struct {
	stage stage
	// why is what it waits for that was put off.
	why string
	// at is what the evaluator is at that has it, nil for none.
	at *sched.CurrentPolicy
}

// putsOff puts a question that has no answer yet, the same one, at the end of its line
// after a while. why is what it waits for. After Run that comes to nothing.
type putsOff func(wait time.Duration, why string)

// pose asks a question: it is known as open until it is answered.
func pose[T any](
	p *Plane, of about, tenant string, answer func(T),
	decide func(ctx context.Context, at *sched.CurrentPolicy, answer func(T), later putsOff) (int64, bool),
) {
	a := p.open.begin(of)
	answered := func(v T) {
		p.open.end(of, a)
		answer(v)
	}
	t := sched.Task{Tenant: tenant}
	later := func(wait time.Duration, why string) {
		p.open.put(a, putOff, why)
		time.AfterFunc(wait, func() {
			p.open.put(a, inLine, "")
			p.queue.Add(t)
		})
	}
	t.Decide = func(ctx context.Context, at *sched.CurrentPolicy) (int64, bool) {
		p.open.enter(a, at)
		defer p.open.leave(a, at)
		return decide(ctx, at, answered, later)
	}
	p.queue.Add(t)
}

func (o *openQuestions) begin(of about) *asked {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.of == nil {
		o.of = map[about][]*asked{}
	}
	a := &asked{stage: inLine}
	o.of[of] = append(o.of[of], a)
	return a
}

func (o *openQuestions) end(of about, a *asked) {
	o.mu.Lock()
	defer o.mu.Unlock()
	others := slices.DeleteFunc(o.of[of], func(have *asked) bool { return have == a })
	if o.of[of] = others; len(others) == 0 {
		delete(o.of, of)
	}
}

func (o *openQuestions) enter(a *asked, at *sched.CurrentPolicy) {
	o.mu.Lock()
	defer o.mu.Unlock()
	a.stage, a.at = underWay, at
}

// leave says that an evaluator is done with a question, which may have put it off.
func (o *openQuestions) leave(a *asked, at *sched.CurrentPolicy) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if a.at == at {
		a.stage, a.at = decided, nil
	}
}

// put says that no evaluator has a question, and how far that is instead.
func (o *openQuestions) put(a *asked, to stage, why string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	a.stage, a.why, a.at = to, why, nil
}

// The states of a question without an answer.
type stage int

const (
	notAsked stage = iota
	inLine
	underWay
	// putOff: there is nothing in the budget of its tenant, or a breaker is open.
	putOff
	decided
)

// newest is how far the newest open question about something is, the policy that is
// being asked, empty for none, and why it was put off.
func (o *openQuestions) newest(of about) (at stage, policy, why string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := o.of[of]
	if len(all) == 0 {
		return notAsked, "", ""
	}
	a := all[len(all)-1]
	if a.at != nil {
		policy = a.at.Name()
	}
	return a.stage, policy, a.why
}

// Asked says what the answer to a question about a pod of this name and UID waits
// for: which policy is at it, empty for none, and in words; both are empty where the
// plane has no such question.
func (p *Plane) Asked(hook string, name types.NamespacedName, uid types.UID) (policy, message string) {
	of := about{hook: hook, uid: uid}
	if hook == api.HookMerge {
		of = about{hook: hook, identity: name}
	}
	tenant := p.cfg.tenant(name.Namespace)
	switch at, policy, why := p.open.newest(of); {
	case at == inLine:
		return "", p.lining(tenant)
	case at == putOff:
		return "", why
	case at == decided:
		return "", "it is decided, and answered once that is on record"
	case policy != "":
		return policy, fmt.Sprintf("policy %q is being asked", policy)
	case at == underWay:
		return "", "it is being decided"
	}
	return "", ""
}

// lining says what the questions about pods of a tenant wait for that no evaluator
// has taken.
func (p *Plane) lining(tenant string) string {
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

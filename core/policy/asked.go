package policy

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
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
	// at is what the evaluator is at that has it, nil for none.
	at *activity
	// decided: no evaluator will have it any more.
	decided bool
}

// pose asks a question: it is known as open until it is answered.
func pose[T any](
	p *Plane, of about, tenant string, answer func(T), decide func(ctx context.Context, at *activity, answer func(T)) (int64, bool),
) {
	a := p.open.begin(of)
	answered := func(v T) {
		p.open.end(of, a)
		answer(v)
	}
	p.queue.add(task{tenant: tenant, decide: func(ctx context.Context, at *activity) (int64, bool) {
		p.open.enter(a, at)
		defer p.open.leave(a)
		return decide(ctx, at, answered)
	}})
}

func (o *openQuestions) begin(of about) *asked {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.of == nil {
		o.of = map[about][]*asked{}
	}
	a := &asked{}
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

func (o *openQuestions) enter(a *asked, at *activity) {
	o.mu.Lock()
	defer o.mu.Unlock()
	a.at = at
}

func (o *openQuestions) leave(a *asked) {
	o.mu.Lock()
	defer o.mu.Unlock()
	a.at, a.decided = nil, true
}

// The states of a question without an answer.
type stage int

const (
	notAsked stage = iota
	inLine
	underWay
	decided
)

// newest is how far the newest open question about something is, and the policy that
// is being asked, empty for none.
func (o *openQuestions) newest(of about) (at stage, policy string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := o.of[of]
	if len(all) == 0 {
		return notAsked, ""
	}
	switch a := all[len(all)-1]; {
	case a.at != nil:
		return underWay, a.at.current()
	case a.decided:
		return decided, ""
	}
	return inLine, ""
}

// Asked says what the answer to a question about a pod of this name and UID waits
// for: which policy is at it, empty for none, and in words; both are empty where the
// plane has no such question.
func (p *Plane) Asked(hook string, name types.NamespacedName, uid types.UID) (policy, message string) {
	of := about{hook: hook, uid: uid}
	if hook == hookMerge {
		of = about{hook: hook, identity: name}
	}
	tenant := p.cfg.tenant(name.Namespace)
	switch at, policy := p.open.newest(of); {
	case at == inLine:
		return "", p.lining(tenant)
	case at == decided:
		return "", p.closing(hook, tenant)
	case policy != "":
		return policy, fmt.Sprintf("policy %q is being asked", policy)
	case at == underWay:
		return "", "it is being decided"
	}
	return "", ""
}

// closing says why a question that no evaluator has any more is not answered.
func (p *Plane) closing(hook, tenant string) string {
	if hook == hookMerge && p.budgets.wait(tenant, p.cfg.Now()) > 0 {
		_, message := broke(tenant)
		return message
	}
	return "it is decided, and answered once that is on record"
}

// lining says what the questions about pods of a tenant wait for that no evaluator
// has taken.
func (p *Plane) lining(tenant string) string {
	for _, o := range p.owners {
		if o.judges(tenant) && !o.wasTried() {
			return fmt.Sprintf("the policies of %s are being loaded for the first time", o.dir)
		}
	}
	if p.recorder.behind(tenant) {
		return "too many decisions before it wait to be put on record"
	}
	return "other questions come first"
}

package policy

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/condition"
	"github.com/wardlet/wardlet/core/policy/sched"
	"github.com/wardlet/wardlet/core/policy/spec"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// decision is one question while it is decided.
type decision struct {
	// hook is what is decided, node the node's name.
	hook, node string
	request    *wasm.Request
	// input is what conditions see, nil before the first is asked; spent is what
	// those took in fuel whose policies were not asked, and what else no opinion shows:
	// what calls cost beside their fuel, and earlier tries.
	input *condition.Input
	spent int64
	turn  turn
	// sees gives what the policies of an owner see of the node; saw is what they
	// saw, nil where none has looked.
	sees func(tenant string, s *sight) *wasm.NodeFacts
	look func() *sight
	saw  *sight
	// references is what policies see of the objects that the pod names; lacking are those that are not known yet, and that a
	// policy was not asked for.
	references referenceSight
	lacking    []api.SeenReference
	// instance identifies what is judged, empty where that is not known.
	instance string
	// names are those that an operator may know the pod by.
	names []string
	// mutation is what policies have changed of the pod so far, nil for nothing;
	// mutateAPI: they may change pods of an API server.
	mutation  *pod.Mutation
	mutateAPI bool
	// fallback is the answer where no policy has an opinion.
	fallback api.Answer
	// exempt: the pod must be able to start, whatever becomes of plugins.
	exempt bool
	// lasts are the verdicts policies gave before, nil where nobody keeps them.
	lasts *lasts
	// met is what policies met that is no function of what they were asked.
	met circumstances
	// shadowed are the questions that candidates are to be asked, too; made is what
	// policies make of the pod.
	shadowed []shadowed
	made     making
	// at says what the goroutine is at.
	at *sched.CurrentPolicy
}

// lastKey is what policies' last verdicts are kept for: the instance or, where a
// merge policy made something of that, what it made.
func (d *decision) lastKey() string { return cmp.Or(d.request.Question.Base.Hash(), d.instance) }

// namesOf returns the names of a question's pod, as NAMESPACE/NAME: its own, and that in its
// manifest if it is a static pod of the node.
func namesOf(q *api.Question, node string) []string {
	own := q.Pod.Namespace + "/" + q.Pod.Name
	if written, ok := strings.CutSuffix(own, "-"+node); ok && pod.IsStatic(q.Pod) {
		return []string{own, written}
	}
	return []string{own}
}

// consult gives the opinion of a policy, and counts it. An exception comes
// before its plugin is asked, and one that cannot tell its conditions (unclear),
// or whose breaker is open, is not asked either. Where that or the plugin fails, the policy's on_error
// decides, and for an exempt pod that it passes. Where the question is put off there is
// no opinion.
func (p *policy) consult(ctx context.Context, d *decision, unclear error) opinion {
	if o, ok := p.excepted(d); ok {
		return o
	}
	if unclear == nil {
		unclear = d.prepare(p)
	}
	if d.met.putOff > 0 {
		return opinion{}
	}
	var o opinion
	if unclear != nil {
		o = p.failed(unclear)
	} else {
		o = p.ask(ctx, d)
		if !d.met.repeated {
			p.plugin.breakers.ended(ctx, d.request.Tenant, d.identity, o.Failure, d.request.Time)
		}
	}
	if ctx.Err() != nil {
		return o
	}
	switch {
	case o.Failure != "":
		p.settle(d, &o)
	case d.hook == api.HookAdmit:
		d.lasts.put(p, d.lastKey(), d.request.Tenant, &o, d.request.Time)
	}
	p.counts.count(&o.Opinion)
	return o
}

// barred is the question that a policy is asked.
func (d *decision) barred(p *policy) barred {
	return barred{d.request.Tenant, d.identity, p.patience(d.hook, d.exempt || d.isReview()), d.request.Time}
}

// prepare shows a policy what it may see beside the question. The error says why its plugin is not asked; the question may also be
// put off.
func (d *decision) prepare(p *policy) error {
	if err := d.met.bars(p, d.barred(p)); err != nil || d.met.putOff > 0 {
		if cut := d.met.cut(p); cut != nil {
			d.lacking = append(d.lacking, cut.References...)
		}
		return err
	}
	d.show(p)
	return d.refer(p)
}

// show gives a policy what it may see of the node.
func (d *decision) show(p *policy) {
	d.request.Node = nil
	if !p.readsNode() || d.look == nil {
		return
	}
	if d.saw == nil {
		d.saw = d.look()
	}
	d.request.Node = d.sees(p.tenant, d.saw)
}

// settle makes a failure of the plugin the policy's answer.
func (p *policy) settle(d *decision, o *opinion) {
	if o.Failure == string(referencesUnknown) {
		o.Answer, o.Reason = d.untilKnown(), api.ReasonReferencesUnknown
		return
	}
	news := p.counts.fail(o.Message)
	switch last, known := d.lasts.get(p, d.lastKey()); {
	case d.hook == api.HookConnect:
		o.Answer = unanswered(d.request.Question.Connection)
		if news {
			p.log.Warn("a plugin failed, connections are denied", "policy", p.Name, "failure", o.Message)
		}
		return
	case d.exempt:
		o.Answer = api.Allow
		p.log.Warn("a plugin failed, but the pod is exempt and passes", "policy", p.Name, "pod", d.names[0], "failure", o.Message)
		return
	case o.Failure == string(wasm.NotReady):
		// It is no verdict: others have made the plugin throw its instances away.
		o.Answer, o.retryAfter = api.Hold, minRetryAfter
		return
	case o.Failure == string(breakerWaits) && d.isReview():
		o.Answer = api.Abstain // what runs does not violate what was not asked
	case p.OnError != spec.LastVerdict:
	case known && last.Patch != "":
		d.met.counted(p, &last)
		o.Answer = api.Hold
		o.Message += "; before that it changed the pod, and that is not done again without it"
	case known:
		d.met.counted(p, &last)
		o.Answer, o.retryAfter = last.Answer, last.retryAfter
		o.Message += fmt.Sprintf("; before that it said %s: %s", last.Answer, last.said())
	default:
		o.Answer = api.Hold
		o.Message += "; it has not judged this version of the pod before"
	}
	if o.Answer == api.Hold && o.retryAfter == 0 && o.Failure != string(conditionFailed) {
		o.retryAfter = d.met.again(p, d.barred(p))
	}
	if news {
		p.log.Warn("a plugin failed, on_error decides", "policy", p.Name, "failure", o.Message, "on_error", string(p.OnError))
	}
}

// untilKnown is the answer of a policy that is not asked until it is known what the pod names. It is no verdict about the pod.
func (d *decision) untilKnown() api.Answer {
	switch {
	case d.hook == api.HookConnect:
		return unanswered(d.request.Question.Connection)
	case d.exempt:
		return api.Allow
	case d.isReview():
		return api.Abstain
	}
	return api.Hold
}

// said is the reason and message of an opinion, for display.
func (o *opinion) said() string { return said(o.Reason, o.Message) }

// isReview reports whether a decision is about a pod that runs, of which nothing
// changes.
func (d *decision) isReview() bool { return d.request.Question.Op == api.Review }

// identity is what a question is about: the same for one that is asked again.
func (d *decision) identity() questionID {
	return sha256.Sum256(fmt.Appendf(nil, "%q %q %q", d.hook, d.request.Question.Pod.UID, d.lastKey()))
}

// testRequest is what a policy is asked in a test of its own: at a time that is
// always the same and known to be right, about a pod from a file, or of the
// first kind of sources that the policy names; known is what there is of the objects that the pod names.
func (p *policy) testRequest(q *api.Question, at time.Time, known []api.Reference) *wasm.Request {
	kind := api.KindFile
	if named := p.Match.Sources; len(named) > 0 && !slices.Contains(named, kind) {
		kind = named[0]
	}
	references, _ := referencesOf(q.Pod, known)
	return &wasm.Request{Question: q, Kind: kind, Changed: changes(q), Time: at, Node: &wasm.NodeFacts{}, References: references, ClockSynchronized: true}
}

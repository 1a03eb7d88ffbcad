package eval

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"weak"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/condition"
	"github.com/wardlet/wardlet/core/policy/sched"
	"github.com/wardlet/wardlet/core/policy/spec"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// Decision is one question while it is decided.
type Decision struct {
	// Hook is what is decided, node the node's name.
	Hook, Node string
	Request    *wasm.Request
	// input is what conditions see, nil before the first is asked; spent is what
	// those took in fuel whose policies were not asked, and what else no opinion shows:
	// what calls cost beside their fuel, and earlier tries.
	input *condition.Input
	Spent int64
	turn  Yielder
	// See gives what the policies of an owner see of the node; saw is what they
	// saw, nil where none has looked.
	See  func(tenant string, s *NodeView) *wasm.NodeFacts
	Look func() *NodeView
	Seen *NodeView
	// References is what policies see of the objects that the pod names; lacking are those that are not known yet, and that a
	// policy was not asked for.
	References ReferenceView
	missing    []api.SeenReference
	// Instance identifies what is judged, empty where that is not known.
	Instance string
	// Names are those that an operator may know the pod by.
	Names []string
	// mutation is what policies have changed of the pod so far, nil for nothing;
	// mutateAPI: they may change pods of an API server.
	mutation  *pod.Mutation
	MutateAPI bool
	// Fallback is the answer where no policy has an opinion.
	Fallback api.Answer
	// Exempt: the pod must be able to start, whatever becomes of plugins.
	Exempt bool
	// Cache are the verdicts policies gave before, nil where nobody keeps them.
	Cache *VerdictCache
	// Effects is what policies met that is no function of what they were asked.
	Effects HostEffects
	// Shadowed are the questions that candidates are to be asked, too; made is what
	// policies make of the pod.
	Shadowed []ShadowQuestion
	Made     making
	// Current says what the goroutine is at.
	Current *sched.CurrentPolicy
}

// LastKey is what policies' last verdicts are kept for: the instance or, where a
// merge policy made something of that, what it made.
func (d *Decision) LastKey() string { return cmp.Or(d.Request.Question.Base.Hash(), d.Instance) }

// NamesOf returns the names of a question's pod, as NAMESPACE/NAME: its own, and that in its
// manifest if it is a static pod of the node.
func NamesOf(q *api.Question, node string) []string {
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
func (p *Policy) consult(ctx context.Context, d *Decision, unclear error) PolicyResult {
	if o, ok := p.Excepted(d); ok {
		return o
	}
	if unclear == nil {
		unclear = d.prepare(p)
	}
	if d.Effects.PutOff > 0 {
		return PolicyResult{}
	}
	var o PolicyResult
	if unclear != nil {
		o = p.failed(unclear)
	} else {
		o = p.ask(ctx, d)
		if !d.Effects.Repeated {
			p.Plugin.Breakers.ended(ctx, d.Request.Tenant, d.Identity, o.Failure, d.Request.Time)
		}
	}
	if ctx.Err() != nil {
		return o
	}
	switch {
	case o.Failure != "":
		p.settle(d, &o)
	case d.Hook == api.HookAdmit:
		d.Cache.Put(p, d.LastKey(), d.Request.Tenant, &o, d.Request.Time)
	}
	p.Counters.count(&o.Opinion)
	return o
}

// barred is the question that a policy is asked.
func (d *Decision) barred(p *Policy) breakerQuery {
	return breakerQuery{d.Request.Tenant, d.Identity, p.patience(d.Hook, d.Exempt || d.isReview()), d.Request.Time}
}

// prepare shows a policy what it may see beside the question. The error says why its plugin is not asked; the question may also be
// put off.
func (d *Decision) prepare(p *Policy) error {
	if err := d.Effects.bars(p, d.barred(p)); err != nil || d.Effects.PutOff > 0 {
		if cut := d.Effects.cut(p); cut != nil {
			d.missing = append(d.missing, cut.References...)
		}
		return err
	}
	d.show(p)
	return d.refer(p)
}

// show gives a policy what it may see of the node.
func (d *Decision) show(p *Policy) {
	d.Request.Node = nil
	if !p.ReadsNode() || d.Look == nil {
		return
	}
	if d.Seen == nil {
		d.Seen = d.Look()
	}
	d.Request.Node = d.See(p.Tenant, d.Seen)
}

// settle makes a failure of the plugin the policy's answer.
func (p *Policy) settle(d *Decision, o *PolicyResult) {
	if o.Failure == string(ReferencesUnknown) {
		o.Answer, o.Reason = d.untilKnown(), api.ReasonReferencesUnknown
		return
	}
	news := p.Counters.fail(o.Message)
	switch last, known := d.Cache.get(p, d.LastKey()); {
	case d.Hook == api.HookConnect:
		o.Answer = ConnectFailureAnswer(d.Request.Question.Connection)
		if news {
			p.Log.Warn("a plugin failed, connections are denied", "policy", p.Name, "failure", o.Message)
		}
		return
	case d.Exempt:
		o.Answer = api.Allow
		p.Log.Warn("a plugin failed, but the pod is exempt and passes", "policy", p.Name, "pod", d.Names[0], "failure", o.Message)
		return
	case o.Failure == string(wasm.NotReady):
		// It is no verdict: others have made the plugin throw its instances away.
		o.Answer, o.retryAfter = api.Hold, minRetryAfter
		return
	case o.Failure == string(BreakerWaits) && d.isReview():
		o.Answer = api.Abstain // what runs does not violate what was not asked
	case p.OnError != spec.LastVerdict:
	case known && last.Patch != "":
		d.Effects.counted(p, &last)
		o.Answer = api.Hold
		o.Message += "; before that it changed the pod, and that is not done again without it"
	case known:
		d.Effects.counted(p, &last)
		o.Answer, o.retryAfter = last.Answer, last.retryAfter
		o.Message += fmt.Sprintf("; before that it said %s: %s", last.Answer, last.Said())
	default:
		o.Answer = api.Hold
		o.Message += "; it has not judged this version of the pod before"
	}
	if o.Answer == api.Hold && o.retryAfter == 0 && o.Failure != string(ConditionFailed) {
		o.retryAfter = d.Effects.again(p, d.barred(p))
	}
	if news {
		p.Log.Warn("a plugin failed, on_error decides", "policy", p.Name, "failure", o.Message, "on_error", string(p.OnError))
	}
}

// untilKnown is the answer of a policy that is not asked until it is known what the pod names. It is no verdict about the pod.
func (d *Decision) untilKnown() api.Answer {
	switch {
	case d.Hook == api.HookConnect:
		return ConnectFailureAnswer(d.Request.Question.Connection)
	case d.Exempt:
		return api.Allow
	case d.isReview():
		return api.Abstain
	}
	return api.Hold
}

// Said is the reason and message of an opinion, for display.
func (o *PolicyResult) Said() string { return said(o.Reason, o.Message) }

// isReview reports whether a decision is about a pod that runs, of which nothing
// changes.
func (d *Decision) isReview() bool { return d.Request.Question.Op == api.Review }

// Identity is what a question is about: the same for one that is asked again.
func (d *Decision) Identity() QuestionID {
	return sha256.Sum256(fmt.Appendf(nil, "%q %q %q", d.Hook, d.Request.Question.Pod.UID, d.LastKey()))
}

// RequestOfTest is what a policy is asked in a test of its own: at a time that is
// always the same and known to be right, about a pod from a file, or of the
// first kind of sources that the policy names; known is what there is of the objects that the pod names.
func (p *Policy) RequestOfTest(q *api.Question, at time.Time, known []api.Reference) *wasm.Request {
	kind := api.KindFile
	if named := p.Match.Sources; len(named) > 0 && !slices.Contains(named, kind) {
		kind = named[0]
	}
	references, _ := ReferencesOf(q.Pod, known)
	return &wasm.Request{Question: q, Kind: kind, Changed: Changes(q), Time: at, Node: &wasm.NodeFacts{}, References: references, ClockSynchronized: true}
}

// maxInstances is how many pods are remembered with their instance.
const maxInstances = 4096

// InstanceCache remember which instance a pod is: telling that takes the pod's JSON,
// longer than to ask several plugins. A pod never changes, so it is told once for
// each. The zero value is ready, and safe for concurrent use.
type InstanceCache struct {
	mu sync.Mutex
	// known does not keep a pod from being collected.
	known map[weak.Pointer[v1.Pod]]string
}

// Of is pod.Instance. texts writes what that takes.
func (i *InstanceCache) Of(p *v1.Pod, texts *pod.Texts) (string, error) {
	key := weak.Make(p)
	i.mu.Lock()
	instance, ok := i.known[key]
	i.mu.Unlock()
	if ok {
		return instance, nil
	}
	instance, err := texts.Instance(p)
	if err != nil {
		return "", err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.known == nil || len(i.known) >= maxInstances {
		i.known = map[weak.Pointer[v1.Pod]]string{}
	}
	i.known[key] = instance
	return instance, nil
}

// NodeView is what a decision sees of the node.
type NodeView struct {
	Labels   map[string]string
	Capacity map[string]string
	Pods     []wasm.NodePod
	// Shown is what of it policies were shown, by their owner.
	Shown map[string]*wasm.NodeFacts
}

// Of is what the policies of an owner see: those of a tenant only its own pods.
func (s *NodeView) Of(tenant string, owns func(namespace string) string) *wasm.NodeFacts {
	if s == nil {
		return nil
	}
	if f := s.Shown[tenant]; f != nil {
		return f
	}
	f := &wasm.NodeFacts{Labels: s.Labels, Allocatable: s.Capacity, Pods: s.Pods}
	if tenant != "" {
		f.Pods = slices.DeleteFunc(slices.Clone(s.Pods), func(p wasm.NodePod) bool { return owns(p.Namespace) != tenant })
	}
	s.Shown[tenant] = f
	return f
}

// Again is the same sight for somebody else, beside whom others may still be shown theirs;
// nil for nil.
func (s *NodeView) Again() *NodeView {
	if s == nil {
		return nil
	}
	return &NodeView{Labels: s.Labels, Capacity: s.Capacity, Pods: s.Pods, Shown: map[string]*wasm.NodeFacts{}}
}

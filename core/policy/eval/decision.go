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
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// Decision is one question to the hooks admit, filter or connect that is being decided.
type Decision struct {
	// Hook is the hook of the question. Node is the node's name.
	Hook, Node string
	Request    *abi.Request
	// input is the input of conditions, nil before the first one is evaluated. Spent is the
	// cost in fuel that no opinion shows: conditions of policies that were not asked, the
	// cost of calls beside their fuel, and earlier attempts.
	input *condition.Input
	Spent int64
	turn  Yielder
	// Look returns the node as it is now. See returns the part of a view that the policies
	// of an owner may see. Seen is the view that policies were shown, nil if they were
	// shown none.
	See  func(tenant string, s *NodeView) *abi.NodeFacts
	Look func() *NodeView
	Seen *NodeView
	// References is what policies see of the objects that the pod names. missing are the
	// objects that are not known yet, so that a policy was not asked.
	References ReferenceView
	missing    []api.SeenReference
	// Instance identifies the version of the pod, empty if that is not known.
	Instance string
	// Names are the pod's names, as NamesOf returns them.
	Names []string
	// mutation is what policies have changed so far, nil for nothing. MutateAPI reports
	// that policies may change pods of an API server.
	mutation  *pod.Mutation
	MutateAPI bool
	// Fallback is the answer if no policy has an opinion.
	Fallback api.Answer
	// Exempt reports that the pod must be able to start although plugins fail.
	Exempt bool
	// Cache has the answers of policies on earlier questions, nil for none.
	Cache *VerdictCache
	// Effects are the inputs that do not follow from the question.
	Effects HostEffects
	// Shadowed are the questions that candidates are to be asked afterwards. Made has the
	// hash of the pod as each policy changes it.
	Shadowed []ShadowQuestion
	Made     making
	// Current is set to the policy whose plugin runs.
	Current *sched.CurrentPolicy
}

// LastKey returns the key of the verdict cache: the instance or, if a merge policy changed
// the pod, the hash of the changed pod.
func (d *Decision) LastKey() string { return cmp.Or(d.Request.Question.Base.Hash(), d.Instance) }

// NamesOf returns the names of a question's pod, as NAMESPACE/NAME: its own and, for a
// static pod of the node, the name in its manifest.
func NamesOf(q *api.Question, node string) []string {
	own := q.Pod.Namespace + "/" + q.Pod.Name
	if written, ok := strings.CutSuffix(own, "-"+node); ok && pod.IsStatic(q.Pod) {
		return []string{own, written}
	}
	return []string{own}
}

// consult returns the opinion of a policy, and counts it. The plugin is not called if an
// exception matches, if the conditions cannot be evaluated (unclear), or if the breaker is
// open. If it fails or is not called, the policy's on_error decides; an exempt pod passes.
// If the question is put off, there is no opinion.
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

// barred returns the question for the policy's breaker.
func (d *Decision) barred(p *Policy) breakerQuery {
	return breakerQuery{d.Request.Tenant, d.Identity, p.patience(d.Hook, d.Exempt || d.isReview()), d.Request.Time}
}

// prepare sets what the policy may see beside the question. The error says why its plugin
// is not called. It may also put the question off.
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

// show sets what the policy may see of the node.
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

// settle sets the answer of a policy whose plugin failed.
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
	case o.Failure == string(abi.NotReady):
		// This is no verdict: other calls have made the plugin drop its instances.
		o.Answer, o.retryAfter = api.Hold, minRetryAfter
		return
	case o.Failure == string(BreakerWaits) && d.isReview():
		o.Answer = api.Abstain // a running pod does not violate a policy that was not asked
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

// untilKnown returns the answer of a policy that is not asked because an object that the
// pod names is not known yet. The answer is no verdict about the pod.
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

// Said returns the reason and the message, for display.
func (o *PolicyResult) Said() string { return said(o.Reason, o.Message) }

// isReview reports whether the decision is about a running pod, which does not change.
func (d *Decision) isReview() bool { return d.Request.Question.Op == api.Review }

// Identity returns the ID of the question, which is the same if the question is asked
// again.
func (d *Decision) Identity() QuestionID {
	return sha256.Sum256(fmt.Appendf(nil, "%q %q %q", d.Hook, d.Request.Question.Pod.UID, d.LastKey()))
}

// RequestOfTestCase returns the request of a test: at a fixed time on a synchronized clock,
// about a pod from a file or, if the policy does not match files, of the first kind of
// sources that it names. known are the objects that exist.
func (p *Policy) RequestOfTestCase(q *api.Question, at time.Time, known []api.Reference) *abi.Request {
	kind := api.KindFile
	if named := p.Match.Sources; len(named) > 0 && !slices.Contains(named, kind) {
		kind = named[0]
	}
	references, _ := ReferencesOf(q.Pod, known)
	return &abi.Request{Question: q, Kind: kind, Changed: Changes(q), Time: at, Node: &abi.NodeFacts{}, References: references, ClockSynchronized: true}
}

// maxInstances is how many pods the cache keeps.
const maxInstances = 4096

// InstanceCache keeps the instance of each pod: computing it renders the pod as JSON, which
// takes longer than calling several plugins. A *v1.Pod never changes, so its instance is
// computed once. The zero value is ready, and safe for concurrent use.
type InstanceCache struct {
	mu sync.Mutex
	// known does not keep pods in memory.
	known map[weak.Pointer[v1.Pod]]string
}

// Of returns pod.Instance(p). texts renders the pod.
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

// NodeView is the state of the node that a decision sees.
type NodeView struct {
	Labels   map[string]string
	Capacity map[string]string
	Pods     []abi.NodePod
	// Shown is the part of the view that policies were shown, by their owner.
	Shown map[string]*abi.NodeFacts
}

// Of returns the part of the view that the policies of an owner see, and records that they
// were shown it. The policies of a tenant see only the tenant's pods.
func (s *NodeView) Of(tenant string, owns func(namespace string) string) *abi.NodeFacts {
	if s == nil {
		return nil
	}
	if f := s.Shown[tenant]; f != nil {
		return f
	}
	f := &abi.NodeFacts{Labels: s.Labels, Allocatable: s.Capacity, Pods: s.Pods}
	if tenant != "" {
		f.Pods = slices.DeleteFunc(slices.Clone(s.Pods), func(p abi.NodePod) bool { return owns(p.Namespace) != tenant })
	}
	s.Shown[tenant] = f
	return f
}

// Again returns a copy that no policy was shown yet; nil for nil.
func (s *NodeView) Again() *NodeView {
	if s == nil {
		return nil
	}
	return &NodeView{Labels: s.Labels, Capacity: s.Capacity, Pods: s.Pods, Shown: map[string]*abi.NodeFacts{}}
}

package eval

import (
	"errors"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/mutate"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// The cost in fuel of a patch, and of each byte of the pod and of the patch: some 2 units
// a nanosecond, as with conditions. The pod is decoded, defaulted and validated again.
const (
	PatchFuel     = 1_000_000
	patchByteFuel = 2500
)

// mutates reports whether the policy may change pods. Such policies are asked before all
// others. In a mode that does not count the order is the same, but the policy changes
// nothing.
func (p *Policy) mutates() bool { return len(p.MutablePaths) > 0 }

// propose applies the patch of a policy that allows the pod. If the opinion counts, later
// policies see the changed pod. A patch that cannot be applied, or that changes more than
// the policy may, is a failure of the plugin, in every mode.
func (p *Policy) propose(d *Decision, o PolicyResult, patch []byte) PolicyResult {
	text, q := shownPatch(patch), d.Request.Question
	if d.isReview() {
		o.Patch = text // a running pod is not changed
		return o
	}
	fuel := o.Fuel + patchCost(q.Pod, patch)
	r, hash, err := p.apply(q.Pod, patch, d.MutateAPI)
	if err != nil {
		failed := p.failed(&abi.Failure{Code: codeOf(err), Err: err, Fuel: fuel})
		failed.Patch, failed.Reads = text, o.Reads
		return failed
	}
	o.Patch, o.Fuel = text, fuel
	if len(r.Changed) == 0 {
		return o
	}
	d.Made.note(p, hash)
	if p.ShownMode() == "" {
		d.change(p, &r, hash)
	}
	return o
}

// making has the FinalHash of a pod as each policy changes it, also for policies that do
// not count. It does not contain policies that change nothing.
type making map[PolicyKey]string

func (m *making) note(p *Policy, hash string) {
	if *m == nil {
		*m = making{}
	}
	(*m)[p.Key()] = hash
}

// apply returns the pod with a patch of the policy, and its hash.
func (p *Policy) apply(of *v1.Pod, patch []byte, mutateAPI bool) (mutate.Result, string, error) {
	r, err := mutate.Apply(of, patch, mutate.Reach{Paths: p.MutablePaths, API: !pod.IsStatic(of), MutateAPI: mutateAPI})
	if err != nil {
		return r, "", err
	}
	if len(r.Pod.Labels) == 0 {
		r.Pod.Labels = nil // as in a stored pod
	}
	hash, err := pod.FinalHash(r.Pod)
	return r, hash, err
}

// patchCost returns the cost of applying a patch. Parts of a pod that policies do not see
// are not on record, and so do not count.
func patchCost(p *v1.Pod, patch []byte) int64 {
	seen := v1.Pod{ObjectMeta: p.ObjectMeta, Spec: p.Spec}
	seen.ManagedFields = nil
	return PatchFuel + patchByteFuel*int64(seen.Size()+len(patch))
}

// codeOf returns the failure code of a patch that was not applied.
func codeOf(err error) abi.FailureCode {
	if errors.Is(err, mutate.ErrPatch) || errors.Is(err, mutate.ErrReach) {
		return abi.BadOutput
	}
	return abi.HostError
}

// shownPatch returns a patch for an opinion, cut if it is long.
func shownPatch(patch []byte) string {
	if len(patch) > api.MaxShownPatch {
		return strings.ToValidUTF8(string(patch[:api.MaxShownPatch]), "") + "…"
	}
	return string(patch)
}

// change replaces the pod that the next policies are asked about by the changed pod.
func (d *Decision) change(p *Policy, r *mutate.Result, hash string) {
	by := p.changed(r)
	var before []pod.Mutator
	if d.mutation != nil {
		before = d.mutation.By
	}
	d.mutation = &pod.Mutation{By: append(slices.Clip(before), by), Instance: d.Instance, FinalHash: hash, Final: r.Pod}
	q := *d.Request.Question
	q.Pod = r.Pod
	d.setQuestion(&q)
}

// setQuestion sets the question that the next policies are asked.
func (d *Decision) setQuestion(q *api.Question) {
	d.Request.Question, d.Request.Changed, d.input = q, Changes(q), nil
}

// PassingQuestion returns the question with the pod as the policies of the verdict changed
// it.
func PassingQuestion(q *api.Question, v *api.Verdict) *api.Question {
	if v.Mutation == nil {
		return q
	}
	final := *q
	final.Pod = v.Mutation.Final
	return &final
}

// base returns the change of the policy to the winner that it names; the changed pod is
// judged instead. It returns nil if the policy changes nothing or the opinion does not
// count. The cost of the patch is added to got. A patch that cannot be applied, or that
// changes more than the policy may, is a failure of the plugin, in every mode.
func (p *Policy) base(m *Conflict, got *wasm.MergeResult) (*pod.Mutation, error) {
	if got.Answer != wasm.MergeWinner || len(got.Patch) == 0 {
		return nil, nil
	}
	won := m.Candidates[got.Winner].Pod
	got.Fuel += patchCost(won, got.Patch)
	r, hash, err := p.apply(won, got.Patch, m.MutateAPI)
	var instance string
	if err == nil {
		instance, err = pod.Instance(won)
	}
	switch {
	case err != nil:
		return nil, &abi.Failure{Code: codeOf(err), Err: err, Fuel: got.Fuel}
	case len(r.Changed) == 0:
		return nil, nil
	}
	m.Made.note(p, hash)
	if p.ShownMode() != "" {
		return nil, nil
	}
	return &pod.Mutation{By: []pod.Mutator{p.changed(&r)}, Instance: instance, FinalHash: hash, Final: r.Pod}, nil
}

// changed returns what the policy changed, for the verdict.
func (p *Policy) changed(r *mutate.Result) pod.Mutator {
	listed := r.Changed[:min(len(r.Changed), pod.MaxMutatorChanges)]
	return pod.Mutator{Policy: p.Name, Tenant: p.Tenant, Changed: listed, More: len(r.Changed) - len(listed)}
}

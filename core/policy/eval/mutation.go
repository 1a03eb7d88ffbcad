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
)

// What it takes in fuel to apply a patch, and beside that for each byte of the
// pod and of the patch: some 2 units for each nanosecond, as with conditions. The
// pod is read, defaulted and validated again.
const (
	PatchFuel     = 1_000_000
	patchByteFuel = 2500
)

// mutates reports whether the policy is one that may change pods: those are asked
// before all others. In the modes that do not count it is asked in its turn, and
// changes nothing.
func (p *Policy) mutates() bool { return len(p.MutablePaths) > 0 }

// propose takes the patch of a policy that allows a pod. If the opinion counts,
// the pod is another one from now on. A patch that cannot be applied, or goes
// beyond what the policy may change, is a failure of the plugin, in the other
// modes too.
func (p *Policy) propose(d *Decision, o PolicyResult, patch []byte) PolicyResult {
	text, q := shownPatch(patch), d.Request.Question
	if d.isReview() {
		o.Patch = text // nothing of what runs changes
		return o
	}
	fuel := o.Fuel + patchCost(q.Pod, patch)
	r, hash, err := p.apply(q.Pod, patch, d.MutateAPI)
	if err != nil {
		failed := p.failed(&wasm.Failure{Code: codeOf(err), Err: err, Fuel: fuel})
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

// making has FinalHash of what policies make of a pod, also those that do not count.
// One that changes nothing is not in it.
type making map[PolicyKey]string

func (m *making) note(p *Policy, hash string) {
	if *m == nil {
		*m = making{}
	}
	(*m)[p.Key()] = hash
}

// apply gives the pod that a patch of the policy makes of p, and its hash.
func (p *Policy) apply(of *v1.Pod, patch []byte, mutateAPI bool) (mutate.Result, string, error) {
	r, err := mutate.Apply(of, patch, mutate.Reach{Paths: p.MutablePaths, API: !pod.IsStatic(of), MutateAPI: mutateAPI})
	if err != nil {
		return r, "", err
	}
	if len(r.Pod.Labels) == 0 {
		r.Pod.Labels = nil // as it is once it was stored
	}
	hash, err := pod.FinalHash(r.Pod)
	return r, hash, err
}

// patchCost is what applying a patch takes. What policies do not see of a pod is
// not on record, and so does not count.
func patchCost(p *v1.Pod, patch []byte) int64 {
	seen := v1.Pod{ObjectMeta: p.ObjectMeta, Spec: p.Spec}
	seen.ManagedFields = nil
	return PatchFuel + patchByteFuel*int64(seen.Size()+len(patch))
}

// codeOf is whose fault it is that a patch was not applied.
func codeOf(err error) wasm.FailureCode {
	if errors.Is(err, mutate.ErrPatch) || errors.Is(err, mutate.ErrReach) {
		return wasm.BadOutput
	}
	return wasm.HostError
}

// shownPatch is a patch as opinions have it.
func shownPatch(patch []byte) string {
	if len(patch) > api.MaxShownPatch {
		return strings.ToValidUTF8(string(patch[:api.MaxShownPatch]), "") + "…"
	}
	return string(patch)
}

// change makes what a policy has changed the pod that the next ones are asked
// about.
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

// setQuestion makes q what policies are asked from now on.
func (d *Decision) setQuestion(q *api.Question) {
	d.Request.Question, d.Request.Changed, d.input = q, Changes(q), nil
}

// PassingQuestion is a question about the pod that goes on with a verdict.
func PassingQuestion(q *api.Question, v *api.Verdict) *api.Question {
	if v.Mutation == nil {
		return q
	}
	final := *q
	final.Pod = v.Mutation.Final
	return &final
}

// base is what the policy makes of the winner that it names, which is then judged
// in its place; nil where that is as its source has it, and where the opinion does
// not count. What the patch takes is added to got. A patch that cannot be applied,
// or goes beyond what the policy may change, is a failure of the plugin, in the
// modes that do not count too.
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
		return nil, &wasm.Failure{Code: codeOf(err), Err: err, Fuel: got.Fuel}
	case len(r.Changed) == 0:
		return nil, nil
	}
	m.Made.note(p, hash)
	if p.ShownMode() != "" {
		return nil, nil
	}
	return &pod.Mutation{By: []pod.Mutator{p.changed(&r)}, Instance: instance, FinalHash: hash, Final: r.Pod}, nil
}

// changed is what a policy has changed.
func (p *Policy) changed(r *mutate.Result) pod.Mutator {
	listed := r.Changed[:min(len(r.Changed), pod.MaxMutatorChanges)]
	return pod.Mutator{Policy: p.Name, Tenant: p.Tenant, Changed: listed, More: len(r.Changed) - len(listed)}
}

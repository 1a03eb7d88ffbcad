package policy

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
	patchFuel     = 1_000_000
	patchByteFuel = 2500
)

// mutates reports whether the policy is one that may change pods: those are asked
// before all others. In the modes that do not count it is asked in its turn, and
// changes nothing.
func (p *policy) mutates() bool { return len(p.MutablePaths) > 0 }

// propose takes the patch of a policy that allows a pod. If the opinion counts,
// the pod is another one from now on. A patch that cannot be applied, or goes
// beyond what the policy may change, is a failure of the plugin, in the other
// modes too.
func (p *policy) propose(d *decision, o opinion, patch []byte) opinion {
	text, q := shownPatch(patch), d.request.Question
	if d.isReview() {
		o.Patch = text // nothing of what runs changes
		return o
	}
	fuel := o.Fuel + patchCost(q.Pod, patch)
	r, hash, err := p.apply(q.Pod, patch, d.mutateAPI)
	if err != nil {
		failed := p.failed(&wasm.Failure{Code: codeOf(err), Err: err, Fuel: fuel})
		failed.Patch, failed.Reads = text, o.Reads
		return failed
	}
	o.Patch, o.Fuel = text, fuel
	if len(r.Changed) == 0 {
		return o
	}
	d.made.note(p, hash)
	if p.counted() == "" {
		d.change(p, &r, hash)
	}
	return o
}

// making has FinalHash of what policies make of a pod, also those that do not count.
// One that changes nothing is not in it.
type making map[owned]string

func (m *making) note(p *policy, hash string) {
	if *m == nil {
		*m = making{}
	}
	(*m)[p.owned()] = hash
}

// apply gives the pod that a patch of the policy makes of p, and its hash.
func (p *policy) apply(of *v1.Pod, patch []byte, mutateAPI bool) (mutate.Result, string, error) {
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
	return patchFuel + patchByteFuel*int64(seen.Size()+len(patch))
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
func (d *decision) change(p *policy, r *mutate.Result, hash string) {
	by := p.changed(r)
	var before []pod.Mutator
	if d.mutation != nil {
		before = d.mutation.By
	}
	d.mutation = &pod.Mutation{By: append(slices.Clip(before), by), Instance: d.instance, FinalHash: hash, Final: r.Pod}
	q := *d.request.Question
	q.Pod = r.Pod
	d.ask(&q)
}

// ask makes q what policies are asked from now on.
func (d *decision) ask(q *api.Question) {
	d.request.Question, d.request.Changed, d.input = q, changes(q), nil
}

// passing is a question about the pod that goes on with a verdict.
func passing(q *api.Question, v *api.Verdict) *api.Question {
	if v.Mutation == nil {
		return q
	}
	final := *q
	final.Pod = v.Mutation.Final
	return &final
}

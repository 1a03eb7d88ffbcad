package policy

import (
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/mutate"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// base is what the policy makes of the winner that it names, which is then judged
// in its place; nil where that is as its source has it, and where the opinion does
// not count. What the patch takes is added to got. A patch that cannot be applied,
// or goes beyond what the policy may change, is a failure of the plugin, in the
// modes that do not count too.
func (p *policy) base(m *contest, got *wasm.MergeResult) (*pod.Mutation, error) {
	if got.Answer != wasm.MergeWinner || len(got.Patch) == 0 {
		return nil, nil
	}
	won := m.Candidates[got.Winner].Pod
	got.Fuel += patchCost(won, got.Patch)
	r, hash, err := p.apply(won, got.Patch, m.mutateAPI)
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
	m.made.note(p, hash)
	if p.counted() != "" {
		return nil, nil
	}
	return &pod.Mutation{By: []pod.Mutator{p.changed(&r)}, Instance: instance, FinalHash: hash, Final: r.Pod}, nil
}

// changed is what a policy has changed.
func (p *policy) changed(r *mutate.Result) pod.Mutator {
	listed := r.Changed[:min(len(r.Changed), pod.MaxMutatorChanges)]
	return pod.Mutator{Policy: p.Name, Tenant: p.tenant, Changed: listed, More: len(r.Changed) - len(listed)}
}

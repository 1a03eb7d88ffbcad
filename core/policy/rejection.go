package policy

import (
	"slices"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
)

// rejection is what a policy in force says of a pod by rejecting all that claim its
// identity, nil where none does: an answer of other sets does not count, nor does that
// of a policy which leaves alone what runs.
func (f *forces) rejection(run *RunningPod, tenant string) *api.Opinion {
	r := run.Rejected
	if r == nil {
		return nil
	}
	asked := slices.Clone(r.Sets) // the operator's is asked first
	slices.Reverse(asked)
	p := f.sets[r.Tenant].Find(r.Policy)
	if p == nil || !p.Rejects() || keyOfSets(asked) != f.of(tenant).key {
		return nil
	}
	return &api.Opinion{
		Policy: r.Policy, Tenant: r.Tenant, Answer: api.Deny, Reason: api.ReasonConflictRejected, Message: r.Message,
	}
}

// isRejected reports whether the policy rejects all that claim the pod's identity.
func (rv *review) isRejected(p *eval.Policy) bool {
	return rv.rejection != nil && rv.rejection.Policy == p.Name && rv.rejection.Tenant == p.Tenant
}

// said are all opinions about the pod.
func (rv *review) said() []api.Opinion {
	if rv.rejection == nil {
		return rv.opinions
	}
	return append(slices.Clip(rv.opinions), *rv.rejection)
}

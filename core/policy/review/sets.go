package review

import (
	"cmp"
	"slices"
	"strings"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/rollout"
)

// effectiveSets are the sets in force at one moment.
type effectiveSets struct {
	owners []*rollout.Owner
	// sets are the sets by owner.
	sets map[string]*rollout.Set
	// known caches the results of of, by the tenant of the judged pods.
	known map[string]setsOf
}

// setsOf are the sets that judge the pods of a tenant.
type setsOf struct {
	// key identifies the sets; reviews reports that one of their policies judges running
	// pods.
	key     string
	reviews bool
}

// effective returns the sets in force now, which the caller must release.
func (r *Reviewer) effective() *effectiveSets {
	f := &effectiveSets{owners: r.cfg.Owners, sets: map[string]*rollout.Set{}, known: map[string]setsOf{}}
	for _, o := range r.cfg.Owners {
		if s, _ := o.Use(); s != nil {
			f.sets[o.Tenant] = s
		}
	}
	return f
}

func (f *effectiveSets) release() {
	for _, s := range f.sets {
		s.Release()
	}
}

func (f *effectiveSets) reviews() bool {
	for _, s := range f.sets {
		if s.Reviews() {
			return true
		}
	}
	return false
}

func (f *effectiveSets) of(tenant string) setsOf {
	one, ok := f.known[tenant]
	if ok {
		return one
	}
	var names []string
	for _, o := range slices.Backward(f.owners) {
		if s := f.sets[o.Tenant]; s != nil && o.Judges(tenant) {
			names = append(names, s.Eval.Name())
			one.reviews = one.reviews || s.Reviews()
		}
	}
	one.key = keyOfSets(names)
	f.known[tenant] = one
	return one
}

// keyOfSets returns a key made of the names of sets; "-" stands for none.
func keyOfSets(names []string) string { return cmp.Or(strings.Join(names, " "), "-") }

// rejection returns the opinion of a policy in force that rejects all documents which claim
// the pod's identity, nil for none. An answer of other sets, or of a policy that ignores
// running pods, does not count.
func (f *effectiveSets) rejection(run *RunningPod, tenant string) *api.Opinion {
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

// isRejected reports whether the policy rejects all documents that claim the pod's
// identity.
func (rv *reviewedPod) isRejected(p *eval.Policy) bool {
	return rv.rejection != nil && rv.rejection.Policy == p.Name && rv.rejection.Tenant == p.Tenant
}

// said returns all opinions about the pod.
func (rv *reviewedPod) said() []api.Opinion {
	if rv.rejection == nil {
		return rv.opinions
	}
	return append(slices.Clip(rv.opinions), *rv.rejection)
}

package replay

import (
	"context"
	"errors"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/rollout"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/state/decisions"
)

// ErrNotConcerned means that an owner's policies do not judge the pod of a decision.
var ErrNotConcerned = errors.New("the policies of this owner judge no such pod")

// ErrUnseen means that policies read something that is not on record with a decision.
var ErrUnseen = errors.New("the record has neither node facts nor references: no policy of that decision read them")

// WhatIf repeats decisions on record with one owner's policies replaced by others. It uses
// its Replayer.
type WhatIf struct {
	again *Replayer
	set   *eval.Set
}

// WhatIf loads the policies of the configuration's directory, as an Engine does at its
// start, and runs their tests; the error has every reason why they would be refused. They
// replace the policies of o.Tenant, or of the operator if it is empty. Release must follow.
func (r *Replayer) WhatIf(ctx context.Context, o rollout.Options) (*WhatIf, error) {
	s, err := rollout.LoadOnce(ctx, &o, bundle.Read(o.Options))
	if err != nil {
		return nil, err
	}
	s.Eval.Tenant = o.Tenant
	return &WhatIf{r, s.Eval}, nil
}

// Release closes the plugins.
func (i *WhatIf) Release() { i.set.Release() }

// Decide repeats the decision of a record with the other policies, and returns the verdict
// and the first difference, nil for none. Policies of other owners are those on record. The
// error is ErrNotJudged, ErrNotConcerned, ErrUnseen, the error of ctx, or says what is
// missing or damaged.
func (i *WhatIf) Decide(ctx context.Context, record *decisions.Record, of Artifacts) (api.Verdict, *Difference, error) {
	if i.set.Tenant != "" && i.set.Tenant != record.Tenant {
		return api.Verdict{}, nil, ErrNotConcerned
	}
	unseen := false
	v, err := i.again.replay(ctx, record, of, func(d *eval.Decision) {
		facts, references := d.See, d.References.Of
		d.References.Of = func(by *v1.Pod, r pod.Reference) (api.Reference, time.Duration, error) {
			known, wait, err := references(by, r)
			unseen = unseen || err != nil
			return known, wait, err
		}
		d.Look = func() *eval.NodeView { return &eval.NodeView{} }
		d.See = func(tenant string, s *eval.NodeView) *abi.NodeFacts {
			seen := facts(tenant, s)
			unseen = unseen || seen == nil
			return seen
		}
	}, i.set)
	switch {
	case err != nil:
		return api.Verdict{}, nil, err
	case unseen:
		return api.Verdict{}, nil, ErrUnseen
	}
	d := differs(record, record, &v)
	if d == nil && record.Verdict.Mutation.Hash() != v.Mutation.Hash() || d != nil && d.Field == fieldMutation {
		d = versions(&record.Verdict, &v)
	}
	return v, d, nil
}

// without returns the policies of a record except those of one owner.
func without(all []decisions.PolicyRecord, tenant string) []decisions.PolicyRecord {
	return slices.DeleteFunc(slices.Clone(all), func(p decisions.PolicyRecord) bool { return p.Tenant == tenant })
}

// withinSets adds a set in the place where it is asked, or replaces the set of its owner.
// The operator's set comes first for contests and last otherwise.
func withinSets(s *eval.Set, sets []*eval.Set, hook string) []*eval.Set {
	if i := slices.IndexFunc(sets, func(x *eval.Set) bool { return x.Tenant == s.Tenant }); i >= 0 {
		sets[i] = s
		return sets
	}
	if (s.Tenant == "") == (hook == api.HookMerge) {
		return slices.Insert(sets, 0, s)
	}
	return append(sets, s)
}

package replay

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/decisionlog"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/state/decisions"
)

// entry returns a record with its documents, redacted. The answers of the policies do not
// change.
func (x *Redactor) entry(record *decisions.Record, of Artifacts) (*decisions.Entry, error) {
	r := *record
	r.Redacted = true
	r.Candidates, r.Policies = slices.Clone(r.Candidates), slices.Clone(r.Policies)
	from, to := &ArtifactReader{Of: of}, &decisionlog.Documents{Into: map[string][]byte{}}
	swap := func(digest *string) {
		if p := from.pod(*digest); p != nil {
			x.pod(p)
			*digest = to.Pod(p)
		}
	}
	name := func(all ...*string) {
		for _, one := range all {
			*one = x.name(*one)
		}
	}
	swap(&r.Pod)
	swap(&r.Old)
	if r.ConnectionInput != "" {
		c := &api.Connection{}
		from.read(r.ConnectionInput, c)
		x.values(c.Command)
		r.ConnectionInput, r.Connection = to.JSON(c), c.String()
	}
	if r.References != "" {
		var all []api.Reference
		from.read(r.References, &all)
		for i := range all {
			all[i].Digest = x.value(all[i].Digest)
		}
		r.References = to.JSON(all)
	}
	name(&r.Instance, &r.OldInstance, &r.Base)
	r.UID, r.Replaces = types.UID(x.name(string(r.UID))), types.UID(x.name(string(r.Replaces)))
	r.Document = x.document(r.Document)
	for i := range r.Candidates {
		c := &r.Candidates[i]
		swap(&c.Pod)
		name(&c.Instance)
		c.UID, c.Document = types.UID(x.name(string(c.UID))), x.document(c.Document)
	}
	for i := range r.Policies {
		p := &r.Policies[i]
		if p.NodeFacts != "" {
			f := &abi.NodeFacts{}
			from.read(p.NodeFacts, f)
			x.facts(f)
			p.NodeFacts = to.JSON(f)
		}
		if c := p.HostCause; c != nil && c.Last != nil {
			last := *c.Last
			last.Message = x.value(last.Message)
			p.HostCause = &decisions.HostCause{Cut: c.Cut, Last: &last}
		}
		if c := p.HostCause; c != nil && c.Cut != nil && len(c.Cut.References) > 0 {
			cut := *c.Cut
			cut.References = slices.Clone(cut.References)
			for i := range cut.References {
				cut.References[i].Digest = x.value(cut.References[i].Digest)
			}
			circumstance := *c
			circumstance.Cut, p.HostCause = &cut, &circumstance
		}
	}
	if from.Err != nil {
		return nil, from.Err
	}
	return &decisions.Entry{Record: &r, Inputs: to.Into}, to.Err
}

// Redacted returns a record with its documents redacted, and with the verdict that the
// policies return for those documents, so that the decision can be repeated from the
// record. If that verdict decides differently from the one on record, the entry is nil and
// the Difference says how. A decision that no policy was asked about is not repeated.
func (r *Replayer) Redacted(ctx context.Context, record *decisions.Record, of Artifacts, x *Redactor) (*decisions.Entry, *Difference, error) {
	e, err := x.entry(record, of)
	if err != nil {
		return nil, nil, err
	}
	made, err := r.Replay(ctx, e.Record, redacted{of, e.Inputs})
	switch {
	case errors.Is(err, ErrNotJudged):
		return e, nil, nil
	case err != nil:
		return nil, nil, err
	}
	if d := differs(record, e.Record, &made); d != nil {
		return nil, d, nil
	}
	e.Record.Verdict = asPaced(record, made)
	return e, nil, nil
}

// redacted are artifacts with other documents.
type redacted struct {
	Artifacts
	inputs map[string][]byte
}

func (r redacted) Input(digest string) ([]byte, error) {
	text, ok := r.inputs[digest]
	if !ok {
		return nil, fmt.Errorf("no document %s", digest)
	}
	return text, nil
}

package eval

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/state/decisions"
)

const (

	// MaxReferences is how many objects a pod may name if a policy is to see them: each is
	// watched.
	MaxReferences = 256
	// MaxKeyBytes is how many bytes the names of the keys of all these objects may have
	// together: the record of the decision contains them.
	MaxKeyBytes = 64 << 10
)

// referenceKey names an object that a pod names.
type referenceKey struct {
	secret bool
	name   string
}

// ReferenceView is what a decision sees of the objects that its pod names. The decision
// sees each object as it was the first time.
type ReferenceView struct {
	// Of returns an object; see policy.References. It is nil if no object is known.
	Of   func(by *v1.Pod, r pod.Reference) (known api.Reference, wait time.Duration, err error)
	seen map[referenceKey]api.Reference
}

// Again returns a copy of the view for another decision, which does not wait for objects.
func (s *ReferenceView) Again() ReferenceView {
	again := ReferenceView{seen: maps.Clone(s.seen)}
	if of := s.Of; of != nil {
		again.Of = func(by *v1.Pod, r pod.Reference) (api.Reference, time.Duration, error) {
			known, _, err := of(by, r)
			return known, 0, err
		}
	}
	return again
}

// All returns the references that were seen, by kind and name.
func (s *ReferenceView) All() []api.Reference {
	return slices.SortedFunc(maps.Values(s.seen), compareSeen)
}

func compareSeen(a, b api.Reference) int {
	return strings.Compare(a.Kind+"\x00"+a.Name, b.Kind+"\x00"+b.Name)
}

// ReferencesOf returns the objects that a pod names, with what known says about them;
// missing are those that are not in known.
func ReferencesOf(p *v1.Pod, known []api.Reference) (all, missing []api.Reference) {
	for _, r := range pod.References(p) {
		one := api.Reference{Kind: api.ConfigMapKind, Name: r.Name}
		if r.Secret {
			one.Kind = api.SecretKind
		}
		if i := slices.IndexFunc(known, func(k api.Reference) bool { return compareSeen(k, one) == 0 }); i >= 0 {
			one = known[i]
		} else {
			missing = append(missing, one)
		}
		one.Optional = r.Optional
		all = append(all, one)
	}
	return all, missing
}

// ReadsReferences reports whether the policy may see what its pods name.
func (p *Policy) ReadsReferences() bool {
	return slices.Contains(p.Capabilities, abi.CapabilityReferencesRead)
}

// Refers reports whether the policy, or its candidate, may see what pods name.
func (p *Policy) Refers() bool {
	return p.ReadsReferences() || p.Candidate != nil && p.Candidate.ReadsReferences()
}

// refer sets what a policy may see of the objects that the pod names. It may put the
// question off. Otherwise the error says that the objects are not known yet, or cannot be
// shown.
func (d *Decision) refer(p *Policy) error {
	d.Request.References = nil
	if !p.Refers() || d.References.Of == nil {
		return nil
	}
	all, seen, wait, err := d.seeReferences(pod.References(d.Request.Question.Pod))
	if wait > 0 && !d.isReview() && !d.Effects.Repeated {
		d.Effects.PutOff, d.Effects.PutOffReason = wait, err.Error()
		return nil
	}
	if !p.ReadsReferences() {
		return nil // its candidate reports the error itself
	}
	if err == nil {
		d.Request.References = all
		return nil
	}
	if !d.Effects.Repeated {
		d.Effects.note(p).Cut = &decisions.Cut{Code: string(ReferencesUnknown), Message: err.Error(), References: seen}
		d.missing = append(d.missing, seen...)
	}
	return &abi.Failure{Code: ReferencesUnknown, Err: err}
}

// seeReferences returns the objects that a pod names, which are watched from then on. The
// error says what is wrong, or not known yet; then seen are the references whose change may
// change the answer. wait is the delay before the next attempt if the objects may be known
// in milliseconds, else 0.
func (d *Decision) seeReferences(named []pod.Reference) (all []api.Reference, seen []api.SeenReference, wait time.Duration, err error) {
	if len(named) > MaxReferences {
		return nil, nil, 0, fmt.Errorf("the pod names %d ConfigMaps and Secrets, more than the %d that a policy is shown", len(named), MaxReferences)
	}
	fresh := map[referenceKey]api.Reference{}
	bytes := 0
	for _, r := range named {
		key := referenceKey{r.Secret, r.Name}
		known, ok := d.References.seen[key]
		if !ok {
			var soon time.Duration
			var missing error
			if known, soon, missing = d.References.Of(d.Request.Question.Pod, r); missing != nil {
				wait, err = max(wait, soon), cmp.Or(err, missing)
				seen = append(seen, api.SeenReference{Kind: known.Kind, Name: known.Name, Unknown: true})
				continue
			}
			fresh[key] = known
		}
		known.Optional = r.Optional
		all, seen = append(all, known), append(seen, seenReference(&known))
		for _, name := range known.Keys {
			bytes += len(name)
		}
	}
	if bytes > MaxKeyBytes { // the objects are not recorded either
		return nil, seen, wait, cmp.Or(err, fmt.Errorf("the keys of the ConfigMaps and Secrets that the pod names have %d bytes, more than the %d that a policy is shown", bytes, MaxKeyBytes))
	}
	if d.References.seen == nil {
		d.References.seen = map[referenceKey]api.Reference{}
	}
	maps.Copy(d.References.seen, fresh)
	return all, seen, wait, err
}

// seenReference returns a reference for a verdict.
func seenReference(r *api.Reference) api.SeenReference {
	return api.SeenReference{Kind: r.Kind, Name: r.Name, Digest: r.Digest}
}

// readReferences returns the references whose digest or keys policies have read, and the
// references that a policy waits for.
func (d *Decision) readReferences(opinions []api.Opinion) []api.SeenReference {
	all := slices.Clone(d.missing)
	if slices.ContainsFunc(opinions, func(o api.Opinion) bool { return slices.ContainsFunc(o.Reads, ofReferences) }) {
		for _, r := range d.References.seen {
			all = append(all, seenReference(&r))
		}
	}
	slices.SortFunc(all, func(a, b api.SeenReference) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Digest, b.Digest))
	})
	return slices.Compact(all)
}

// ofReferences reports whether a path that a plugin has read depends on the content of an
// object.
func ofReferences(path string) bool {
	if path == "request" || path == "request.references" {
		return true
	}
	rest, ok := strings.CutPrefix(path, "request.references[")
	return ok && !strings.HasSuffix(rest, "].kind") && !strings.HasSuffix(rest, "].name") && !strings.HasSuffix(rest, "].optional")
}

package policy

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
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/state"
)

const (
	// referencesUnknown is the code of a policy that is not asked, because it is not known yet what an object is that the pod
	// names.
	referencesUnknown wasm.FailureCode = "ReferencesUnknown"
	// maxReferences is how many objects a pod may name that a policy is shown: each is watched.
	maxReferences = 256
	// maxKeyBytes is how many bytes the names of their keys may have together: they are in the record of the decision.
	maxKeyBytes = 64 << 10
)

// referenceKey names an object that a pod names.
type referenceKey struct {
	secret bool
	name   string
}

// referenceSight is what one decision sees of the objects that its pod names: each stays as it was seen first.
type referenceSight struct {
	// of returns one, nil where nothing is known of any; see References.
	of   func(by *v1.Pod, r pod.Reference) (known api.Reference, wait time.Duration, err error)
	seen map[referenceKey]api.Reference
}

// again is the same sight for a decision beside this one, which does not wait.
func (s *referenceSight) again() referenceSight {
	again := referenceSight{seen: maps.Clone(s.seen)}
	if of := s.of; of != nil {
		again.of = func(by *v1.Pod, r pod.Reference) (api.Reference, time.Duration, error) {
			known, _, err := of(by, r)
			return known, 0, err
		}
	}
	return again
}

// all are the references that were seen, by kind and name.
func (s *referenceSight) all() []api.Reference {
	return slices.SortedFunc(maps.Values(s.seen), compareSeen)
}

func compareSeen(a, b api.Reference) int {
	return strings.Compare(a.Kind+"\x00"+a.Name, b.Kind+"\x00"+b.Name)
}

// referencesOf are the objects that a pod names, as some of known say what they are; missing are those that known does not have.
func referencesOf(p *v1.Pod, known []api.Reference) (all, missing []api.Reference) {
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

// readsReferences reports whether the policy may see what its pods name.
func (p *policy) readsReferences() bool {
	return slices.Contains(p.Capabilities, wasm.CapabilityReferencesRead)
}

// refers reports whether the policy, or its candidate, may see what pods name.
func (p *policy) refers() bool {
	return p.readsReferences() || p.candidate != nil && p.candidate.readsReferences()
}

// refer shows a policy what it may see of the objects that the pod names. The error says that this is not known yet, unless the
// question is put off for that.
func (d *decision) refer(p *policy) error {
	d.request.References = nil
	if !p.refers() || d.references.of == nil {
		return nil
	}
	all, seen, wait, err := d.seeReferences(pod.References(d.request.Question.Pod))
	if wait > 0 && !d.isReview() && !d.met.repeated {
		d.met.putOff, d.met.why = wait, err.Error()
		return nil
	}
	if !p.readsReferences() {
		return nil // its candidate says so itself
	}
	if err == nil {
		d.request.References = all
		return nil
	}
	if !d.met.repeated {
		d.met.note(p).Cut = &state.Cut{Code: string(referencesUnknown), Message: err.Error(), References: seen}
		d.lacking = append(d.lacking, seen...)
	}
	return &wasm.Failure{Code: referencesUnknown, Err: err}
}

// seeReferences returns what is known of the objects that a pod names, all of which are watched from then on. The error says what is
// wrong with that, or is not known yet; seen are then those that make another answer when they change. wait is when to look again
// where that may be a matter of milliseconds, else 0.
func (d *decision) seeReferences(named []pod.Reference) (all []api.Reference, seen []api.SeenReference, wait time.Duration, err error) {
	if len(named) > maxReferences {
		return nil, nil, 0, fmt.Errorf("the pod names %d ConfigMaps and Secrets, more than the %d that a policy is shown", len(named), maxReferences)
	}
	fresh := map[referenceKey]api.Reference{}
	bytes := 0
	for _, r := range named {
		key := referenceKey{r.Secret, r.Name}
		known, ok := d.references.seen[key]
		if !ok {
			var soon time.Duration
			var missing error
			if known, soon, missing = d.references.of(d.request.Question.Pod, r); missing != nil {
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
	if bytes > maxKeyBytes { // they are not on record either
		return nil, seen, wait, cmp.Or(err, fmt.Errorf("the keys of the ConfigMaps and Secrets that the pod names have %d bytes, more than the %d that a policy is shown", bytes, maxKeyBytes))
	}
	if d.references.seen == nil {
		d.references.seen = map[referenceKey]api.Reference{}
	}
	maps.Copy(d.references.seen, fresh)
	return all, seen, wait, err
}

// seenReference is what a verdict says of a reference that policies have seen.
func seenReference(r *api.Reference) api.SeenReference {
	return api.SeenReference{Kind: r.Kind, Name: r.Name, Digest: r.Digest}
}

// readReferences are those of which the policies of a decision have read the digest, or the keys, and those that one waits for.
func (d *decision) readReferences(opinions []api.Opinion) []api.SeenReference {
	all := slices.Clone(d.lacking)
	if slices.ContainsFunc(opinions, func(o api.Opinion) bool { return slices.ContainsFunc(o.Reads, ofReferences) }) {
		for _, r := range d.references.seen {
			all = append(all, seenReference(&r))
		}
	}
	slices.SortFunc(all, func(a, b api.SeenReference) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Digest, b.Digest))
	})
	return slices.Compact(all)
}

// ofReferences reports whether a path that a plugin has read says what is in an object that the pod names.
func ofReferences(path string) bool {
	if path == "request" || path == "request.references" {
		return true
	}
	rest, ok := strings.CutPrefix(path, "request.references[")
	return ok && !strings.HasSuffix(rest, "].kind") && !strings.HasSuffix(rest, "].name") && !strings.HasSuffix(rest, "].optional")
}

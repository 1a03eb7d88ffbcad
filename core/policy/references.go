package policy

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/state"
)

// References are the ConfigMaps and Secrets that pods name. Its methods may be called from several goroutines and do not block.
type References interface {
	// Reference returns what policies may know of an object that a pod names, and keeps that up to date until Unreferenced.
	// The error says that it is not known yet; soon is true where that may be a matter of milliseconds.
	Reference(by *v1.Pod, r pod.Reference) (known api.Reference, soon bool, err error)
	// Unreferenced says that a pod is not judged any more.
	Unreferenced(uid types.UID)
	// Refused are the versions of pods that policies do not let pass and may judge again, with their verdicts.
	Refused() []RefusedPod
	// JudgeAgain has what is refused of these pods judged again.
	JudgeAgain(uids []types.UID)
}

// RefusedPod is a version of a pod that policies do not let pass.
type RefusedPod struct {
	Pod     *v1.Pod
	Verdict *api.Verdict
}

const (
	// referencesUnknown is the code of a policy that is not asked, because it is not known yet what an object is that the pod
	// names.
	referencesUnknown wasm.FailureCode = "ReferencesUnknown"
	// maxReferences is how many objects a pod may name that a policy is shown: each is watched.
	maxReferences = 256
	// referencePause is how long a question waits for what is known soon.
	referencePause = 50 * time.Millisecond
	// referencesPeriod is how often references are looked at that verdicts depend on.
	referencesPeriod = time.Second
)

// referenceKey names an object that a pod names.
type referenceKey struct {
	secret bool
	name   string
}

// referenceSight is what one decision sees of the objects that its pod names: each stays as it was seen first.
type referenceSight struct {
	// of returns one, nil where nothing is known of any; see References.
	of   func(by *v1.Pod, r pod.Reference) (known api.Reference, soon bool, err error)
	seen map[referenceKey]api.Reference
}

// again is the same sight for another decision.
func (s *referenceSight) again() referenceSight { return referenceSight{s.of, maps.Clone(s.seen)} }

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
		one := api.Reference{Kind: configMapKind, Name: r.Name}
		if r.Secret {
			one.Kind = secretKind
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

// refer shows a policy what it may see of the objects that the pod names. The error says that this is not known yet, unless the
// question is put off for that.
func (d *decision) refer(p *policy) error {
	d.request.References = nil
	if !p.readsReferences() || d.references.of == nil {
		return nil
	}
	by := d.request.Question.Pod
	named := pod.References(by)
	if len(named) > maxReferences {
		return d.unknown(p, &api.Reference{}, false, fmt.Errorf("the pod names %d ConfigMaps and Secrets, more than the %d that a policy is shown", len(named), maxReferences))
	}
	var all []api.Reference
	for _, r := range named {
		key := referenceKey{r.Secret, r.Name}
		known, ok := d.references.seen[key]
		if !ok {
			var soon bool
			var err error
			if known, soon, err = d.references.of(by, r); err != nil {
				return d.unknown(p, &known, soon, err)
			}
			if d.references.seen == nil {
				d.references.seen = map[referenceKey]api.Reference{}
			}
			d.references.seen[key] = known
		}
		known.Optional = r.Optional
		all = append(all, known)
	}
	d.request.References = all
	return nil
}

// unknown puts the question off where a reference is known soon, and where it can wait; else it returns why the policy is not
// asked.
func (d *decision) unknown(p *policy, r *api.Reference, soon bool, err error) error {
	if d.met.repeated {
		return &wasm.Failure{Code: referencesUnknown, Err: err}
	}
	if soon && p.patience(d.hook, d.isReview()) > 0 { // an exempt pod can wait for that, too
		d.met.putOff, d.met.why = referencePause, err.Error()
		return nil
	}
	lacks := api.SeenReference{Kind: r.Kind, Name: r.Name, Unknown: true}
	d.lacking = append(d.lacking, lacks)
	d.met.note(p).Cut = &state.Cut{Code: string(referencesUnknown), Message: err.Error(), Reference: &lacks}
	return &wasm.Failure{Code: referencesUnknown, Err: err}
}

// readReferences are those that the policies of a decision have read the digest, or the keys, of; and those that are not known.
func (d *decision) readReferences(opinions []api.Opinion) []api.SeenReference {
	read := func(o api.Opinion) bool { return slices.ContainsFunc(o.Reads, ofReferences) }
	all := slices.Clone(d.lacking)
	if slices.ContainsFunc(opinions, read) {
		for _, r := range d.references.all() {
			all = append(all, api.SeenReference{Kind: r.Kind, Name: r.Name, Digest: r.Digest})
		}
	}
	return all
}

// ofReferences reports whether a path that a plugin has read says what is in an object that the pod names.
func ofReferences(path string) bool {
	if path == "request" || path == "request.references" {
		return true
	}
	rest, ok := strings.CutPrefix(path, "request.references[")
	return ok && !strings.HasSuffix(rest, "].kind") && !strings.HasSuffix(rest, "].name") && !strings.HasSuffix(rest, "].optional")
}

// referring are the pods of which policies have seen references since they were looked at last, and are to be released in time.
type referring struct {
	mu   sync.Mutex
	uids map[types.UID]bool
}

func (r *referring) note(uid types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.uids == nil {
		r.uids = map[types.UID]bool{}
	}
	r.uids[uid] = true
}

// reference is References.Reference for a decision.
func (p *Plane) reference(by *v1.Pod, r pod.Reference) (api.Reference, bool, error) {
	p.referring.note(by.UID)
	return p.cfg.References.Reference(by, r)
}

// watchReferences has pods judged again that were refused by what was seen of a reference that is another now, and releases those
// of pods that are not desired any more.
func (p *Plane) watchReferences(ctx context.Context) {
	if p.cfg.References == nil || p.cfg.Facts == nil {
		return
	}
	every := time.NewTicker(referencesPeriod)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
			p.lookAtReferences()
		}
	}
}

func (p *Plane) lookAtReferences() {
	p.referring.mu.Lock()
	uids := slices.Collect(maps.Keys(p.referring.uids))
	p.referring.mu.Unlock()
	if len(uids) == 0 {
		return
	}
	refused := map[types.UID]bool{}
	var again []types.UID
	for _, r := range p.cfg.References.Refused() {
		refused[r.Pod.UID] = true
		if p.outdated(r.Pod, r.Verdict.References) {
			again = append(again, r.Pod.UID)
		}
	}
	if len(again) > 0 {
		p.cfg.References.JudgeAgain(again)
	}
	for _, uid := range uids {
		if refused[uid] || p.cfg.Facts.Wanted(uid, "") {
			continue
		}
		p.referring.mu.Lock()
		delete(p.referring.uids, uid)
		p.referring.mu.Unlock()
		p.cfg.References.Unreferenced(uid)
	}
}

// outdated reports whether policies that have seen these references of a pod would see others now. What is not known for the
// moment is what it was.
func (p *Plane) outdated(by *v1.Pod, seen []api.SeenReference) bool {
	return slices.ContainsFunc(seen, func(s api.SeenReference) bool {
		now, _, err := p.reference(by, pod.Reference{Secret: s.Kind == secretKind, Name: s.Name})
		return err == nil && (s.Unknown || now.Digest != s.Digest)
	})
}

// The kinds of references.
const (
	configMapKind = "ConfigMap"
	secretKind    = "Secret"
)

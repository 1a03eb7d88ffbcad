package policy

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/eval"
)

// References are the ConfigMaps and Secrets that pods name. Its methods may be called
// from several goroutines and do not block.
type References interface {
	// Reference returns what policies may see of an object that a pod names, and keeps that
	// up to date until Unreferenced. The error says that the object is not known yet; wait
	// is the delay before the next attempt if it may be known in milliseconds, else 0.
	Reference(by *v1.Pod, r pod.Reference) (known api.Reference, wait time.Duration, err error)
	// Unreferenced reports that a pod is not judged any more.
	Unreferenced(uid types.UID)
	// Refused returns the versions of pods that policies do not let pass and may judge
	// again, with their verdicts.
	Refused() []RefusedPod
	// JudgeAgain makes the refused versions of these pods be judged again.
	JudgeAgain(uids []types.UID)
}

// RefusedPod is a version of a pod that policies do not let pass.
type RefusedPod struct {
	Pod     *v1.Pod
	Verdict *api.Verdict
}

// referencesPeriod is the interval at which the references on which verdicts depend are
// compared.
const referencesPeriod = time.Second

// referringPods are the pods whose references policies have seen. The references are
// released later.
type referringPods struct {
	mu   sync.Mutex
	pods map[types.UID]*v1.Pod
}

func (r *referringPods) note(p *v1.Pod) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pods == nil {
		r.pods = map[types.UID]*v1.Pod{}
	}
	r.pods[p.UID] = p
}

func (r *referringPods) all() map[types.UID]*v1.Pod {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.pods)
}

func (r *referringPods) forget(uid types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.pods, uid)
}

// reference calls References.Reference for a decision.
func (p *Engine) reference(by *v1.Pod, r pod.Reference) (api.Reference, time.Duration, error) {
	defer p.referring.note(by) // even if it was released in the meantime
	return p.cfg.References.Reference(by, r)
}

// refers reports whether a policy in force may see what pods name.
func (p *Engine) refers() bool {
	for _, o := range p.owners {
		s, _ := o.Use()
		if s == nil {
			continue
		}
		refers := slices.ContainsFunc(s.Eval.Policies, (*eval.Policy).Refers)
		if s.Release(); refers {
			return true
		}
	}
	return false
}

// watchReferences makes a refused pod be judged again if a reference that policies saw has
// changed. It releases the references of pods that have terminated or are no longer
// desired, and all references if no policy sees them.
func (p *Engine) watchReferences(ctx context.Context) {
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

func (p *Engine) lookAtReferences() {
	pods := p.referring.all()
	if len(pods) == 0 {
		return
	}
	refers := p.refers()
	for _, r := range p.cfg.References.Refused() {
		if _, noted := pods[r.Pod.UID]; !noted || !refers {
			continue
		}
		if delete(pods, r.Pod.UID); p.outdated(r.Pod, r.Verdict.References) {
			p.cfg.References.JudgeAgain([]types.UID{r.Pod.UID})
		}
	}
	for uid, by := range pods {
		if refers && p.cfg.Facts.Wanted(uid, "") && (p.cfg.Facts.Ended == nil || !p.cfg.Facts.Ended(by)) {
			continue
		}
		p.referring.forget(uid)
		p.cfg.References.Unreferenced(uid)
	}
}

// outdated reports whether policies that have seen these references of a pod would see
// other content now. A reference that is not known at the moment is taken as unchanged.
func (p *Engine) outdated(by *v1.Pod, seen []api.SeenReference) bool {
	return slices.ContainsFunc(seen, func(s api.SeenReference) bool {
		now, _, err := p.reference(by, pod.Reference{Secret: s.Kind == api.SecretKind, Name: s.Name})
		return err == nil && (s.Unknown || now.Digest != s.Digest)
	})
}

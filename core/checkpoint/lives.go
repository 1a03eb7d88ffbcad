package checkpoint

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// life is one pod of a UID, from its ADD to its REMOVE, with all its versions and over all restarts
// of the agent.
type life struct {
	// since is the time when the pod was first seen.
	since time.Time
	// instance and source are the instance and the source of its newest version.
	instance, source string
	// flips is the number of changes of a container's readiness that were saved in the minute since
	// flipping.
	flips    int
	flipping time.Time
}

// Track implements syncloop.Outcomes. An outcome belongs to a life, and so survives edits of the
// pod and restarts of the agent: the checkpoint stores the time when the pod was first seen with
// each of its versions.
func (o *Outcomes) Track(p *v1.Pod, since time.Time, restored bool) {
	instance, err := outcomeInstance(p)
	if err != nil {
		o.log.Error("the status of a pod is saved in the former format", "pod", p.Namespace+"/"+p.Name, "uid", p.UID, "err", err)
		return
	}
	l := life{since: since.Round(0), instance: instance, source: p.Annotations[pod.AnnotationSource]}
	o.mu.Lock()
	defer o.mu.Unlock()
	l.flips, l.flipping = o.lives[p.UID].flips, o.lives[p.UID].flipping
	o.lives[p.UID] = l
	kept, ok := o.kept.Get(p.UID)
	switch {
	case !ok:
	case !l.has(&kept, restored):
		o.forget(p.UID)
	default:
		next := kept
		l.mark(&next)
		if next.Instance != kept.Instance || !next.FirstSeen.Equal(kept.FirstSeen) || next.Source != kept.Source {
			o.kept.Set(p.UID, next)
		}
	}
}

// has reports whether an outcome belongs to this life. An API server uses a UID once. A pod that is
// new, although the disk has an outcome for its UID, may be one whose checkpoint was lost: if its
// instance is the same, the outcome belongs to it.
func (l *life) has(kept *state.Outcome, restored bool) bool {
	same := kept.Instance == l.instance
	if kept.Instance == "" || l.instance == "" || kept.FirstSeen.IsZero() || l.since.IsZero() {
		return same
	}
	return kept.FirstSeen.Equal(l.since) || same && !restored
}

// mark sets the life that an outcome belongs to.
func (l *life) mark(kept *state.Outcome) {
	kept.FirstSeen, kept.Instance, kept.Source = l.since, l.instance, l.source
}

// lifeOf returns the life of a worker's pod. If the sync loop has not tracked the pod, only its
// instance and source are known. The caller holds the lock.
func (o *Outcomes) lifeOf(p *v1.Pod) (life, error) {
	if l, known := o.lives[p.UID]; known {
		return l, nil
	}
	instance, err := outcomeInstance(p)
	return life{instance: instance, source: p.Annotations[pod.AnnotationSource]}, err
}

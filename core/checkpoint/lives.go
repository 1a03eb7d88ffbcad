package checkpoint

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// life is one pod of a UID, from its ADD to its REMOVE, over all versions and all
// restarts of the agent.
type life struct {
	// since is when the pod was first seen.
	since time.Time
	// instance and source are those of its newest version.
	instance, source string
	// flips is how often it was kept in the minute since flipping that a container is ready, or no longer.
	flips    int
	flipping time.Time
}

// Track implements syncloop.Outcomes. An outcome is that of a life, so that one goes
// on whatever is edited, and whenever the agent was killed: the checkpoint keeps
// since when a pod was seen with each of its versions.
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

// has reports whether an outcome is of this life. An API server uses a UID once. A
// pod that is new although the disk knows how it fared may be one of which the
// checkpoint was lost: where it is the same as then, it goes on.
func (l *life) has(kept *state.Outcome, restored bool) bool {
	same := kept.Instance == l.instance
	if kept.Instance == "" || l.instance == "" || kept.FirstSeen.IsZero() || l.since.IsZero() {
		return same
	}
	return kept.FirstSeen.Equal(l.since) || same && !restored
}

// mark says whose an outcome is.
func (l *life) mark(kept *state.Outcome) {
	kept.FirstSeen, kept.Instance, kept.Source = l.since, l.instance, l.source
}

// lifeOf is the life that the worker of a pod is about; where the sync loop has not
// told of it, only its instance is known. The caller holds the lock.
func (o *Outcomes) lifeOf(p *v1.Pod) (life, error) {
	if l, known := o.lives[p.UID]; known {
		return l, nil
	}
	instance, err := outcomeInstance(p)
	return life{instance: instance, source: p.Annotations[pod.AnnotationSource]}, err
}

package syncloop

import (
	"cmp"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// add takes in new pods, oldest first, after those that wait already. Pods of the
// node's own sources have no age and come first, in the order in which they were
// seen. What an earlier agent has begun with comes before all others, for it uses
// the node. A pod is in the set before anything is decided about it.
func (l *Loop) add(changes []api.Change) {
	defer l.settle()
	l.judgeWaiting()
	byAge := slices.Clone(changes)
	slices.SortStableFunc(byAge, func(a, b api.Change) int {
		return cmp.Or(a.New.CreationTimestamp.Compare(b.New.CreationTimestamp.Time), a.Origin.FirstSeen.Compare(b.Origin.FirstSeen))
	})
	begun := l.begun(byAge)
	for _, first := range []bool{true, false} {
		for i := range byAge {
			if c := &byAge[i]; begun[c.New.UID] == first {
				l.introduce(c, first)
			}
		}
	}
}

// introduce decides about one new pod.
func (l *Loop) introduce(c *api.Change, begun bool) {
	l.present() // those without it
	m := l.pods.add(c)
	if l.expelled(m) {
		l.taken(m)
		return
	}
	if l.returning(m) {
		return
	}
	result := l.judge(m, begun)
	if c.Op == api.Restore && begun && refused(m.verdict) {
		l.end(m) // an earlier agent was to evict it
		return
	}
	if !result.Admitted {
		// That a restored pod was refused was said when it was.
		l.reject(m, result, c.Op != api.Restore || !refused(c.Verdict))
		return
	}
	said := c.Verdict
	if c.Op == api.Add {
		said = nil
	}
	l.admit(m, result, said, begun)
}

// admit lets a pod start, as soon as those have left that have to. said is the
// verdict whose warnings were told.
func (l *Loop) admit(m member, result admission.Result, said *api.Verdict, begun bool) {
	l.warn(m, said)
	l.join(m)
	if result.Preemption != nil {
		l.preempt(m, result.Preemption)
		return
	}
	l.create(m, begun)
}

// begun are the pods that an earlier agent has begun with: those that run and have
// no worker, and of restored ones those that have something on the node.
func (l *Loop) begun(changes []api.Change) map[types.UID]bool {
	begun := map[types.UID]bool{}
	for _, s := range l.cfg.Workers.Strays() {
		begun[s.UID] = true
	}
	for i := range changes {
		c := &changes[i]
		if l.cfg.Begun != nil && c.Op == api.Restore && l.cfg.Begun(c.New.UID) {
			begun[c.New.UID] = true
		}
	}
	return begun
}

// ended reports whether the pod's phase is one it never leaves, by its source
// or by what the agent found.
func (l *Loop) ended(p *v1.Pod) bool {
	st, _ := l.cfg.Statuses.Get(p.UID)
	return pod.IsTerminal(p.Status.Phase) || pod.IsTerminal(st.Phase)
}

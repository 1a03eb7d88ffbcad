package simulation

import (
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// crashWait is how long a container that exits again and again may wait for its restart.
const crashWait = 320 * time.Second

// alive reports whether a container runs, or may still be waiting to restart.
func (c *container) alive() bool { return c.running() || time.Since(c.over) < crashWait }

func (g *group) alive() bool { return slices.ContainsFunc(g.containers, (*container).alive) }

// unsettled returns what is not yet as it must be once nothing happens any more, empty
// for nothing: what runs is wanted, and every wanted pod runs or its status explains why not.
func (w *world) unsettled(a *agent) string {
	refused := a.refused()
	w.mu.Lock()
	defer w.mu.Unlock()
	wanted := map[types.UID][]*document{}
	kept := map[types.UID]bool{}
	for _, s := range w.sources {
		for _, d := range s.documents {
			wanted[d.pod.UID] = append(wanted[d.pod.UID], d)
			if w.passes(d.pod) && !refused[d] && !w.yields(s, d, refused) {
				continue
			}
			for _, uid := range d.former { // an earlier pod runs until this one may run
				kept[uid] = true
			}
		}
	}
	for _, c := range w.runtime.containers {
		if c.running() && c.lives.of == a.link && !c.lives.ok && time.Since(c.lives.at) > time.Minute {
			return fmt.Sprintf("container %v has failed its liveness probe and runs", c)
		}
	}
	stays := func(uid types.UID) bool { return len(wanted[uid]) > 0 || kept[uid] || w.preserved(uid, refused) }
	for uid, g := range w.runtime.pods {
		if uid != "foreign" && g.running() && !stays(uid) {
			return fmt.Sprintf("pod %s runs and nobody wants it", uid)
		}
	}
	for _, uid := range sortedKeys(wanted) {
		why := ""
		for _, d := range wanted[uid] {
			if refused[d] {
				continue
			}
			if why = w.missing(a, w.sourceOf(d), d, stays); why == "" {
				break
			}
		}
		if why != "" {
			return fmt.Sprintf("pod %s (%s, lapses %d): %s", uid, instanceOf(wanted[uid][0].pod), lapsesOf(wanted[uid][0].pod), why)
		}
	}
	return ""
}

// yields reports whether a document of a source with precedence claims the name of this
// document and policy does not admit it. What runs of this document then runs on, and is not
// replaced.
func (w *world) yields(s *source, d *document, refused map[*document]bool) bool {
	for _, before := range w.sources {
		if !w.set.precedence || before == s {
			return false
		}
		for _, o := range before.documents {
			if o.pod.Name == d.pod.Name && (!w.passes(o.pod) || refused[o]) {
				return true
			}
		}
	}
	return false
}

// refused returns which documents the agent reports as a problem: another document has their
// UID.
func (a *agent) refused() map[*document]bool {
	problems := map[string]bool{}
	for _, s := range a.Sources() {
		for i := range s.Problems {
			problems[s.Problems[i].Document] = true
		}
	}
	w := a.world
	w.mu.Lock()
	defer w.mu.Unlock()
	refused := map[*document]bool{}
	for _, s := range w.sources {
		for _, d := range s.documents {
			refused[d] = problems[d.id]
		}
	}
	return refused
}

// preserved reports whether policy does not admit a document of the pod's source that has
// the pod's name. The pod keeps running until policy admits that document.
func (w *world) preserved(uid types.UID, refused map[*document]bool) bool {
	sub := w.subject(uid)
	for _, s := range w.sources {
		for _, d := range s.documents {
			if s.name == sub.source && d.pod.Name == sub.name && (!w.passes(d.pod) || refused[d]) {
				return true
			}
		}
	}
	return false
}

func (w *world) sourceOf(d *document) *source {
	for _, s := range w.sources {
		for _, have := range s.documents {
			if have == d {
				return s
			}
		}
	}
	return nil
}

// passes reports whether the last verdict of policy admits this version.
func (w *world) passes(p *v1.Pod) bool {
	return !w.set.gated || w.policy.answers[instanceOf(p)].Answer == api.Allow
}

// missing says why a document neither runs nor is explained by its status, empty for
// nothing. stays reports whether what runs of a pod is to keep running, even if another pod
// waits for its name.
func (w *world) missing(a *agent, s *source, d *document, stays func(types.UID) bool) string {
	p, g := d.pod, w.runtime.group(d.pod.UID)
	switch {
	case p.DeletionTimestamp != nil:
		if g.running() {
			return "it is deleted and runs"
		}
		return ""
	case w.outranked(p):
		return ""
	case !w.passes(p):
		// The last answer may belong to a question that was already obsolete.
		if why := w.unexplained(a, s, d); why == "" || !w.policy.allowed[instanceOf(p)] {
			return why
		}
	}
	st := a.status(p.UID)
	if why := w.stillborn(a, p); why != "" && !w.waitsForName(p, &st, stays) {
		return why
	}
	if why, waits := w.uninitialized(p, &st); waits {
		if why != "" && w.waitsForName(p, &st, stays) {
			return ""
		}
		return why
	}
	if w.set.allKinds && w.isOver(p, nil) && g.running() {
		return "its containers have ended for good, and something of it runs"
	}
	made := marked(p)[pod.AnnotationMadeFrom]
	for i := range p.Spec.Containers {
		c := &p.Spec.Containers[i]
		newest := g.newest(c.Name)
		switch {
		case newest == nil:
		case newest.running():
			if newest.hash == hash(c) && (newest.made == made || !pod.IsStatic(p)) {
				if !newest.isWell() {
					return fmt.Sprintf("the probes of container %s do not find that it is well", c.Name)
				}
				continue
			}
			if newest.hash == hash(c) {
				return fmt.Sprintf("container %s is made from another version of its pod", c.Name)
			}
			return fmt.Sprintf("container %s runs as %s and should as %s", c.Name, newest.hash, hash(c))
		case !mayRunAgain(p, c, newest.code):
			continue
		case imageKind(c.Image) == job && time.Since(newest.over) < crashWait:
			continue
		}
		if pod.IsTerminal(st.Phase) && !g.running() && (p.Spec.RestartPolicy == v1.RestartPolicyNever || newest == nil && (!mayRunAgain(p, c, 0) || !mayRunAgain(p, c, 1))) {
			continue // the pod has ended and does not start again
		}
		if w.waitsForName(p, &st, stays) {
			return ""
		}
		return fmt.Sprintf("container %s does not run; the status says %s %q %q", c.Name, st.Phase, st.Reason, waitingReasons(&st))
	}
	return ""
}

// unexplained says what the status lacks to explain why a pod does not run that policy does
// not admit.
func (w *world) unexplained(a *agent, s *source, d *document) string {
	p := d.pod
	if w.runtime.group(p.UID).alive() {
		return "" // an earlier version of the pod is alive
	}
	for uid, g := range w.runtime.pods { // the pod that it is to replace is alive
		sub := w.subjects[uid]
		if g.alive() && (slices.Contains(d.former, uid) || sub != nil && sub.source == s.name && sub.name == p.Name) {
			return ""
		}
		if g.runsAs(s.name, p.Name) && a.updateWaits(uid) { // the running pod shows that an update waits
			return ""
		}
	}
	said, known := w.policy.answers[instanceOf(p)]
	st := a.status(p.UID)
	admitted := api.Condition(&st, api.ConditionAdmitted)
	switch {
	case pod.IsTerminal(st.Phase) && (st.Reason != "" && said.Answer != api.Hold || len(st.ContainerStatuses) > 0):
	case admitted != nil && admitted.Status == v1.ConditionFalse && admitted.Reason != "":
	case s.name == apiSource && w.policy.denied[instanceOf(p)] && st.Phase == v1.PodFailed: // a denial of an API server pod is final
	case slices.ContainsFunc(append(d.former, p.UID), a.updateWaits), a.shownBeside(s, p): // shown with the pod that exists in its place
	case !known:
		return "policy was never asked" // this is allowed for a pod of the API server that was denied before
	default:
		return fmt.Sprintf("policy says %s, and the status %s %q", said.Answer, st.Phase, st.Reason)
	}
	return ""
}

// runsAs reports whether a container of the pod runs that was made for this source, under
// this name.
func (g *group) runsAs(source, name string) bool {
	return slices.ContainsFunc(g.containers, func(c *container) bool {
		return c.running() && c.sandbox.name == name && c.sandbox.annotations[pod.AnnotationSource] == source
	})
}

// updateWaits reports whether the agent's status says that a newer version of the pod waits.
func (a *agent) updateWaits(uid types.UID) bool {
	st := a.status(uid)
	c := api.Condition(&st, api.ConditionUpdateAdmitted)
	return c != nil && c.Status == v1.ConditionFalse && c.Reason != ""
}

// shownBeside reports whether the agent shows the pod as the waiting successor of another pod
// of its name, and the status of that other pod shows that an update waits. The other pod
// may never have started.
func (a *agent) shownBeside(s *source, p *v1.Pod) bool {
	return slices.ContainsFunc(a.Waiting(), func(w api.Waiting) bool {
		return w.Pod.UID == p.UID && w.Origin.Source == s.name && w.Running != nil && w.Running.Name == p.Name && a.updateWaits(w.Running.UID)
	})
}

// outranked reports whether another document claims the name of the pod although only one
// may run. Another test checks which of them runs.
func (w *world) outranked(p *v1.Pod) bool {
	if !w.set.precedence {
		return false
	}
	for _, s := range w.sources {
		for _, d := range s.documents {
			if d.pod != p && d.pod.Name == p.Name {
				return true
			}
		}
	}
	return false
}

// waitsForName reports whether the status of a static pod says that it waits for another
// static pod of its name, and that pod is alive and is to keep running.
func (w *world) waitsForName(p *v1.Pod, st *v1.PodStatus, stays func(types.UID) bool) bool {
	if !pod.IsStatic(p) || !slices.Contains(waitingReasons(st), api.ReasonWaitingForPredecessor) {
		return false
	}
	for _, c := range w.runtime.containers {
		if c.uid != p.UID && c.fullName == pod.FullName(p) && c.alive() && stays(c.uid) {
			return true
		}
	}
	return false
}

func waitingReasons(st *v1.PodStatus) (reasons []string) {
	for i := range st.ContainerStatuses {
		if waiting := st.ContainerStatuses[i].State.Waiting; waiting != nil {
			reasons = append(reasons, waiting.Reason)
		}
	}
	return reasons
}

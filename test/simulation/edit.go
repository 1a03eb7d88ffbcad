package simulation

import (
	"fmt"
	"strconv"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// renameKeepsUID: pods are renamed under their UID.
const renameKeepsUID = true

// edit does to documents what a step says. mu is held.
func (w *world) edit(st *step) {
	s := w.sources[st.source]
	d := s.documents[st.place]
	switch st.do {
	case silence:
		s.silent = true
		return
	case speech:
		s.silent = false
		s.poke()
		return
	case add:
		if name := nameOf(st.place); d == nil && !s.named(name) {
			w.write(s, st.place, w.newPod(s, name, st.n))
		}
		return
	case again:
		if was := s.past[st.place]; d == nil && was != nil && s.name != apiSource && !s.named(was.pod.Name) {
			w.write(s, st.place, was.pod.DeepCopy())
			s.documents[st.place].version = was.version
		}
		return
	}
	if d == nil {
		return
	}
	switch st.do {
	case remove:
		w.erase(s, st.place)
	case replace:
		w.write(s, st.place, w.newPod(s, d.pod.Name, st.n))
	case update, relabel:
		w.amend(s, st)
	case deletion:
		w.remand(s, st)
	case rename:
		name := nameOf(st.place + 1 + st.n%(places-1))
		if s.name == apiSource || s.named(name) {
			return
		}
		p := w.newPod(s, name, st.n)
		if st.n%2 == 0 && renameKeepsUID {
			p = d.pod.DeepCopy()
			p.Name = name
			w.lapse(p.UID, lapse{final: true})
			w.renew(p)
		}
		w.write(s, st.place, p)
	case move:
		if s.name != apiSource {
			for _, uid := range d.former {
				w.lapse(uid, lapse{final: true})
			}
			w.counter++
			d.id = fmt.Sprintf("/%s/%d-%d.yaml#0", s.name, st.place, w.counter)
			s.poke()
		}
	case report:
		if s.name == apiSource {
			p := d.pod.DeepCopy()
			p.Status.NominatedNodeName = "node-" + strconv.Itoa(st.n)
			w.write(s, st.place, p)
		}
	}
}

// amend changes a pod that keeps its UID: its image, its labels or, where it is static, its
// arguments. What it is made from changes only where all containers start again: where they do not, one that is stopped for
// that, and cannot be started at once, has ended, as with a kubelet.
func (w *world) amend(s *source, st *step) {
	p := s.documents[st.place].pod.DeepCopy()
	if s.name != apiSource && !named(p.UID) {
		return // another document is another pod
	}
	if st.do == update && w.amendKinds(s, p, st.n) {
		w.renew(p)
		w.write(s, st.place, p)
		return
	}
	if st.do == relabel || p.Spec.RestartPolicy != v1.RestartPolicyAlways {
		p.Labels = map[string]string{"n": strconv.Itoa(st.n)}
	} else {
		c := &p.Spec.Containers[st.n%len(p.Spec.Containers)]
		if w.counter++; s.name != apiSource && st.n%3 == 0 {
			c.Args = []string{strconv.Itoa(w.counter)}
		}
		if c.Args == nil || st.n%2 == 0 {
			c.Image = imageKind(c.Image) + ":" + strconv.Itoa(w.counter)
		}
	}
	w.renew(p)
	w.write(s, st.place, p)
}

// remand has a pod of the API server end, or changes how long it may take to.
func (w *world) remand(s *source, st *step) {
	if s.name != apiSource {
		return
	}
	p := s.documents[st.place].pod.DeepCopy()
	if p.DeletionTimestamp == nil {
		p.DeletionTimestamp = new(metav1.NewTime(w.clock.wall()))
	}
	p.DeletionGracePeriodSeconds = new([]int64{1, 2, 5, 20, 60}[st.n%5])
	sub := w.subject(p.UID)
	sub.longest = max(sub.longest, *p.DeletionGracePeriodSeconds)
	w.write(s, st.place, p)
}

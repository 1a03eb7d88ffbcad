package simulation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// The sources, in the order in which they have precedence.
const (
	file      = "file"
	http      = "http"
	apiSource = pod.SourceAPI
)

var sourceNames = []string{file, http, apiSource}

// places is how many documents a source may have, and how many names there are.
const places = 3

// Annotations that the world sets on the pods it makes.
const (
	// annotationInstance names the version of a pod for which policy has one verdict.
	annotationInstance = "simulation/instance"
	// annotationLapses is the number of lapses of the pod before this version was made.
	annotationLapses = "simulation/lapses"
)

// source is the state of one source.
type source struct {
	name      string
	documents map[int]*document
	// past are the documents that were removed last, by place.
	past map[int]*document
	// silent: the source delivers nothing. told are the IDs of the documents that were
	// delivered to agents last.
	silent bool
	told   map[string]bool
	// pods are the pods that were delivered last to the running agent, nil before the first
	// whole delivery, and during a delivery.
	pods map[types.UID]bool
	// changed has a value when there is something to read. It is never closed.
	changed chan struct{}
}

// document is one document of a source.
type document struct {
	id, version string
	pod         *v1.Pod
	// former are the pods that the document stood for earlier, as far as an agent may still
	// have them.
	former []types.UID
}

func newSource(name string) *source {
	return &source{name: name, documents: map[int]*document{}, past: map[int]*document{}, told: map[string]bool{}, changed: make(chan struct{}, 1)}
}

func (s *source) poke() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// named reports whether a document of the source has this name.
func (s *source) named(name string) bool {
	for _, d := range s.documents {
		if d.pod.Name == name {
			return true
		}
	}
	return false
}

func (s *source) id(place int) string {
	if s.name == apiSource {
		return "default/" + nameOf(place)
	}
	return fmt.Sprintf("/%s/%d.yaml#0", s.name, place)
}

func nameOf(place int) string { return string(rune('a' + place%places)) }

// newUID returns the UID of a new pod: one that its document names, or a generated one.
func (w *world) newUID(s *source, name string, n int) types.UID {
	w.counter++
	switch {
	case s.name == apiSource:
	case n/512%6 == 0:
		return types.UID("fixed-" + s.name + "-" + name)
	case n/512%6 == 1:
		return types.UID("shared-" + name)
	}
	return types.UID(fmt.Sprintf("%s-%s-%d", s.name, name, w.counter))
}

// named reports whether the document itself names the UID: another version of the document is
// then the same pod.
func named(uid types.UID) bool {
	return strings.HasPrefix(string(uid), "fixed-") || strings.HasPrefix(string(uid), "shared-")
}

// newPod makes a pod; n selects its properties.
func (w *world) newPod(s *source, name string, n int) *v1.Pod {
	uid := w.newUID(s, name, n)
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: name, UID: uid, Annotations: map[string]string{pod.AnnotationSource: s.name},
	}}
	p.Status.Phase = v1.PodPending
	p.Spec.RestartPolicy = []v1.RestartPolicy{v1.RestartPolicyAlways, v1.RestartPolicyAlways, v1.RestartPolicyOnFailure, v1.RestartPolicyNever}[n%4]
	if named(uid) {
		p.Spec.RestartPolicy = v1.RestartPolicyAlways // see amend
	}
	sub := w.subject(uid)
	if sub.grace == 0 {
		sub.grace = []int64{1, 3, 10, 30}[n/8%4]
		sub.longest = sub.grace
	}
	p.Spec.TerminationGracePeriodSeconds = new(sub.grace)
	p.Spec.HostNetwork = n/128%4 == 0
	image := "server"
	if n/32%4 == 0 || p.Spec.RestartPolicy != v1.RestartPolicyAlways && n/32%2 == 0 {
		image = job
	}
	for i := range 1 + n/4%2 {
		p.Spec.Containers = append(p.Spec.Containers, v1.Container{Name: string(rune('x' + i)), Image: image + ":1"})
	}
	if w.set.allKinds {
		equip(p, n)
	}
	w.renew(p)
	return p
}

// renew makes p a version that policy has not judged.
func (w *world) renew(p *v1.Pod) {
	w.counter++
	p.Annotations[annotationInstance] = "i" + strconv.Itoa(w.counter)
	if pod.IsStatic(p) {
		p.Annotations[pod.AnnotationHash] = "h" + strconv.Itoa(w.counter)
	}
}

func instanceOf(p *v1.Pod) string { return p.Annotations[annotationInstance] }

// write makes p the pod of a document. The caller must not use p afterwards.
func (w *world) write(s *source, place int, p *v1.Pod) {
	w.counter++
	d := s.documents[place]
	if d == nil {
		d = &document{id: s.id(place)}
		s.documents[place] = d
		if was := s.past[place]; was != nil && w.believed(s, was.id) {
			d.former = append(slices.Clone(was.former), was.pod.UID) // the agent may not have seen that it was gone
		}
	}
	old := d.pod
	if old != nil {
		w.contested(old)
	}
	// renamed: the earlier pod terminates whatever policy decides about the new one.
	renamed := old != nil && old.Name != p.Name
	switch {
	case old == nil:
	case old.UID != p.UID:
		d.former = append(slices.DeleteFunc(d.former, func(uid types.UID) bool { return uid == p.UID }), old.UID)
		for _, uid := range d.former {
			w.lapse(uid, lapse{successor: instanceOf(p), final: renamed || !w.set.gated || w.set.stopDenied || s.name == apiSource})
		}
		// The UID may have been used before, and that earlier pod may still run.
		if was := w.subject(p.UID).newest; was != nil && (!runAlike(was, p) || w.pending(p.UID)) {
			w.lapse(p.UID, lapse{successor: instanceOf(p), final: !w.set.gated})
		}
	case p.DeletionTimestamp != nil && old.DeletionTimestamp == nil:
		w.lapse(p.UID, lapse{final: true})
	case instanceOf(old) != instanceOf(p):
		if !runAlike(old, p) || w.pending(p.UID) {
			w.lapse(p.UID, lapse{successor: instanceOf(p), final: !w.set.gated})
		}
		for _, uid := range d.former {
			w.lapse(uid, lapse{successor: instanceOf(p), final: renamed})
		}
	}
	d.version, d.pod = strconv.Itoa(w.counter), p
	w.contested(p)
	for _, uid := range d.former { // no pod waits for a document that loses a conflict
		w.subject(uid).contested = w.subject(uid).contested || w.subject(p.UID).contested
	}
	w.succeeds(s, p)
	p.Annotations[annotationLapses] = strconv.Itoa(len(w.subject(p.UID).lapses))
	if old == nil {
		w.returns(s, p)
	}
	s.poke()
}

// believed reports whether an agent may still have a document that is gone.
func (w *world) believed(s *source, id string) bool {
	return s.told[id] || w.disk.doubt[state.DocumentID{Source: s.name, ID: id}]
}

// succeeds records that a document of a source has the name of pods of the source's other
// documents. It replaces these pods once policy admits it.
func (w *world) succeeds(s *source, p *v1.Pod) {
	for uid, sub := range w.subjects {
		if uid != p.UID && sub.source == s.name && sub.name == p.Name {
			w.lapse(uid, lapse{successor: instanceOf(p), final: !w.set.gated || w.set.stopDenied || s.name == apiSource})
		}
	}
	sub := w.subject(p.UID)
	sub.source, sub.name, sub.newest = s.name, p.Name, p
	sub.names[p.Name] = true
}

// contested records that a document of this pod is added, changed or removed while other
// documents claim its name or UID. Which of them runs may then change.
func (w *world) contested(p *v1.Pod) {
	for _, s := range w.sources {
		for _, d := range s.documents {
			if d.pod == nil || d.pod == p {
				continue
			}
			if d.pod.UID == p.UID {
				w.subject(p.UID).contested = true
			}
			if w.set.precedence && d.pod.Name == p.Name {
				for _, uid := range append(slices.Clone(d.former), d.pod.UID, p.UID) {
					w.subject(uid).contested = true
				}
			}
		}
	}
}

// runAlike reports whether what runs of version a may run on as version b.
func runAlike(a, b *v1.Pod) bool {
	alike := func(x, y v1.Container) bool { return hash(&x) == hash(&y) }
	return pod.Remade(a, b) == "" && a.Spec.HostNetwork == b.Spec.HostNetwork && a.Spec.RestartPolicy == b.Spec.RestartPolicy &&
		slices.EqualFunc(a.Spec.Containers, b.Spec.Containers, alike) && slices.EqualFunc(a.Spec.InitContainers, b.Spec.InitContainers, alike)
}

// erase removes a document.
func (w *world) erase(s *source, place int) {
	d := s.documents[place]
	delete(s.documents, place)
	w.contested(d.pod)
	for _, uid := range append(d.former, d.pod.UID) {
		w.lapse(uid, lapse{final: true})
	}
	s.past[place] = d
	w.subject(d.pod.UID).life.erased = w.agent
	s.poke()
}

// hash returns the definition hash of a container.
func hash(c *v1.Container) string { return c.Name + "=" + c.Image }

// subject is what the world records about a UID. It is never removed.
type subject struct {
	// source and name are those of its newest document, newest is the pod of that document.
	// names are all names that its documents had.
	source, name string
	newest       *v1.Pod
	names        map[string]bool
	// grace is the pod's own grace period, in seconds, in all its versions; longest
	// is the longest that was ever requested for it.
	grace, longest int64
	lapses         []lapse
	// contested: another document has claimed its UID, or a document of another source its
	// name although only one of the two may run. The agent may see this late.
	contested bool
	// ended are the containers that have ended and may not start again, by name.
	ended map[string]ended
	// debugged are the ephemeral containers that have run, with the pod's number of lapses at
	// that time.
	debugged map[string]int
	life     life
}

// lapse is a moment from which on there is a reason to stop what ran before it.
type lapse struct {
	// final: the reason holds in any case; else it holds only once policy has admitted the
	// successor.
	final     bool
	successor string
}

// ended is how the newest instance of a container ended.
type ended struct {
	code    int32
	hash    string
	sandbox string
	lapses  int
}

func (w *world) subject(uid types.UID) *subject {
	sub := w.subjects[uid]
	if sub == nil {
		sub = &subject{names: map[string]bool{}, ended: map[string]ended{}, debugged: map[string]int{}}
		w.subjects[uid] = sub
	}
	return sub
}

func (w *world) lapse(uid types.UID, l lapse) {
	sub := w.subject(uid)
	sub.lapses = append(sub.lapses, l)
}

// lapsed reports whether there was a reason to stop what was made of a version that had
// since lapses.
func (w *world) lapsed(uid types.UID, since int) bool {
	if w.subject(uid).contested {
		return true
	}
	for _, l := range w.subject(uid).lapses[since:] {
		if l.final || w.policy.allowed[l.successor] {
			return true
		}
	}
	return false
}

// pending reports whether a lapse still waits for policy to admit its successor. A next
// version then replaces the same containers.
func (w *world) pending(uid types.UID) bool {
	return slices.ContainsFunc(w.subject(uid).lapses, func(l lapse) bool { return !l.final && !w.policy.allowed[l.successor] })
}

// lapsesOf returns how many lapses preceded this version of a pod.
func lapsesOf(p *v1.Pod) int {
	n, err := strconv.Atoi(p.Annotations[annotationLapses])
	if err != nil {
		return 0
	}
	return n
}

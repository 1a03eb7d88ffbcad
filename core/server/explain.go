package server

import (
	"net/http"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

// serveExplain serves timelines, which combine all data of the agent about a pod.
func (s *Server) serveExplain(o *Options) {
	s.mux.HandleFunc("GET /v1/explain", func(w http.ResponseWriter, r *http.Request) {
		namespace, name := r.FormValue("namespace"), r.FormValue("name")
		if namespace == "" || name == "" {
			refuse(w, http.StatusBadRequest, "name the pod: /v1/explain?namespace=NAMESPACE&name=NAME")
			return
		}
		t := timeline{o: o, story: api.Timeline{Namespace: namespace, Name: name}}
		if o.Now != nil {
			t.story.At = o.Now()
		}
		if !t.gather() {
			refuse(w, http.StatusNotFound, t.asked().unknown(t.known))
			return
		}
		t.tell()
		s.answer(w, "/v1/explain", t.story)
	})
}

// timeline is a story under construction.
type timeline struct {
	o     *Options
	story api.Timeline
	// waits has all waiting versions of pods.
	waits []api.Waiting
	// pods are the pods with the name, waiting the waiting versions, and origins their origins.
	pods    []v1.Pod
	waiting []api.Waiting
	origins map[types.UID]api.Origin
	uids    map[types.UID]bool
	// documents has the documents of the pods, with their sources.
	documents map[string]string
	// refused is set if an invalid document would define such a pod.
	refused bool
	known   []string
}

// gather collects the data about the name. It reports whether there is any.
func (t *timeline) gather() bool {
	t.uids, t.documents, t.origins = map[types.UID]bool{}, map[string]string{}, map[types.UID]api.Origin{}
	if t.o.Origins != nil {
		t.origins = t.o.Origins()
	}
	list := t.o.Pods.PodList()
	for i := range list.Items {
		p := &list.Items[i]
		t.known = append(t.known, p.Namespace+"/"+p.Name)
		if t.isOf(p) {
			t.pods = append(t.pods, *p)
			t.uids[p.UID] = true
			t.from(t.origins[p.UID])
		}
	}
	if t.o.Waiting != nil {
		t.waits = t.o.Waiting.List()
		for _, w := range t.waits {
			t.known = append(t.known, w.Pod.Namespace+"/"+w.Pod.Name)
			if t.isOf(w.Pod) || w.Running != nil && t.isOf(w.Running) {
				t.waiting = append(t.waiting, w)
				t.uids[w.Pod.UID] = true
				t.from(w.Origin)
			}
		}
	}
	t.gatherRest()
	s := &t.story
	return t.refused || len(t.pods)+len(t.waiting)+len(s.Decisions)+len(s.Conflicts)+len(s.Updates)+len(s.Events) > 0
}

func (t *timeline) gatherRest() {
	s := &t.story
	s.Decisions, s.Conflicts, s.Updates, s.Events = []api.Decision{}, []api.Conflict{}, []api.WaitingUpdate{}, []api.Event{}
	for _, source := range t.o.Sources.Sources() {
		for i := range source.Problems {
			p := &source.Problems[i]
			if p.Name != "" {
				t.known = append(t.known, p.Namespace+"/"+p.Name)
			}
			if p.Namespace == s.Namespace && t.isNamed(p.Name) {
				t.refused = true
				t.documents[p.Document] = source.Name
			}
		}
	}
	for _, c := range t.o.Sources.Conflicts() {
		about := c.Namespace == s.Namespace && t.isNamed(c.Name)
		for i := range c.Claims {
			about = about || t.uids[c.Claims[i].UID]
		}
		if about {
			s.Conflicts = append(s.Conflicts, c)
			for i := range c.Claims {
				t.documents[c.Claims[i].Document] = c.Claims[i].Source
			}
		}
	}
	if t.o.Policies != nil {
		for _, d := range t.o.Policies.Decisions() {
			t.known = append(t.known, d.Namespace+"/"+d.Name)
			if t.isIn(d.Namespace, d.Name, d.UID) {
				s.Decisions = append(s.Decisions, d)
			}
		}
	}
	if t.o.Updates != nil {
		for _, u := range suppressed(t.o.Updates, t.waits) {
			if t.isIn(u.Namespace, u.Name, u.UID) {
				s.Updates = append(s.Updates, u)
				t.documents[u.Document] = u.Source
			}
		}
	}
	for _, e := range t.o.Events.List() {
		if t.isIn(e.Namespace, e.Name, e.UID) {
			s.Events = append(s.Events, e)
		}
	}
}

// from records the origin of a pod.
func (t *timeline) from(o api.Origin) {
	if o.Document != "" {
		t.documents[o.Document] = o.Source
	}
}

// asked returns the name of the pod that the story is about.
func (t *timeline) asked() podName {
	return podName{namespace: t.story.Namespace, name: t.story.Name, node: t.o.Node}
}

func (t *timeline) isNamed(name string) bool { return t.asked().is(name) }

func (t *timeline) isOf(p *v1.Pod) bool { return t.asked().of(p) }

func (t *timeline) isIn(namespace, name string, uid types.UID) bool {
	return t.uids[uid] || namespace == t.story.Namespace && t.isNamed(name)
}

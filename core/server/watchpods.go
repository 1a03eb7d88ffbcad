package server

import (
	"net/http"
	"reflect"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

func (s *Server) servePods(o *Options) {
	s.mux.HandleFunc("GET /v1/pods", func(w http.ResponseWriter, r *http.Request) {
		if !isWatch(r) {
			s.answer(w, "/v1/pods", podList(o.Pods.PodList(), showEnv(r)))
			return
		}
		watched := podWatch{pods: o.Pods, waits: o.Waiting, showEnv: showEnv(r), last: &v1.PodList{}}
		s.watch(w, r, o.PodChanges, watched.next)
	})
}

// podWatch records which pods were sent to one client.
type podWatch struct {
	pods    Pods
	waits   Waiting
	showEnv bool

	// last is the list that was sent; told are the pods in it.
	last *v1.PodList
	told map[types.UID]*v1.Pod
	// waiting has the waiting versions of pods, as they were sent.
	waiting []api.Waiting
}

// next returns the differences to the state that was sent: first the waiting versions, then the
// pods that are gone in their last state, and then the new or changed ones, both in the order of
// the list.
func (p *podWatch) next() []api.WatchLine {
	lines := p.nextWaiting()
	list := p.pods.PodList()
	now := make(map[types.UID]*v1.Pod, len(list.Items))
	for i := range list.Items {
		now[list.Items[i].UID] = &list.Items[i]
	}
	for i := range p.last.Items {
		if was := &p.last.Items[i]; now[was.UID] == nil {
			lines = append(lines, p.line(api.WatchDeleted, was))
		}
	}
	for i := range list.Items {
		is := &list.Items[i]
		switch was := p.told[is.UID]; {
		case was == nil:
			lines = append(lines, p.line(api.WatchAdded, is))
		case !equality.Semantic.DeepEqual(was, is):
			lines = append(lines, p.line(api.WatchModified, is))
		}
	}
	p.last, p.told = list, now
	return lines
}

// nextWaiting returns the waiting versions if they differ from those that were sent.
func (p *podWatch) nextWaiting() []api.WatchLine {
	if p.waits == nil {
		return nil
	}
	waiting := p.waits.List()
	if len(waiting) == 0 && len(p.waiting) == 0 || reflect.DeepEqual(waiting, p.waiting) {
		return nil
	}
	p.waiting = waiting
	return []api.WatchLine{{Type: api.WatchWaiting, Object: waitsShown(waiting, p.showEnv)}}
}

func (p *podWatch) line(kind string, about *v1.Pod) api.WatchLine {
	return api.WatchLine{Type: kind, Object: podShown(about, p.showEnv)}
}

// podList returns list in the form for clients, its pods as podShown returns them.
func podList(list *v1.PodList, showEnv bool) *v1.PodList {
	out := &v1.PodList{ListMeta: list.ListMeta, Items: make([]v1.Pod, len(list.Items))}
	out.APIVersion, out.Kind = "v1", "PodList"
	for i := range list.Items {
		out.Items[i] = podShown(&list.Items[i], showEnv)
	}
	return out
}

// podShown returns p in the form for clients: with kind and version, and without the values of
// environment variables unless showEnv is set. It changes a copy, because pods are shared.
func podShown(p *v1.Pod, showEnv bool) v1.Pod {
	if !showEnv {
		p = pod.Redacted(p)
	}
	out := *p
	out.APIVersion, out.Kind = "v1", "Pod"
	return out
}

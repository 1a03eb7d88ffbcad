package object

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

// List returns the known objects: those that pods name, and all of the directory. podName returns
// the name of a pod, empty if the pod is gone.
func (p *Objects) List(podName func(types.UID) string) []api.Object {
	// To make the digests of all objects takes long: those that no pod uses are done without the lock.
	type undigested struct {
		at     int
		key    key
		object metav1.Object
	}
	p.mu.Lock()
	var list []api.Object
	var unused []undigested
	for k, w := range p.objects {
		if k.local && p.local.current[k] != nil {
			continue
		}
		o := described(k, w.objects)
		if object := w.objects[k.Name]; object != nil {
			o.Digest = p.digestOf(k, w, object)
		}
		o.Known = w.heard || w.recalled
		o.Found = o.Found && o.Known
		if o.UsedBy = usersOf(w, podName); w.failed != nil {
			o.Err = w.failed.Error()
		}
		list = append(list, o)
	}
	for k, l := range p.local.current {
		o := described(k, map[string]metav1.Object{k.Name: l.object})
		o.Document, o.Known = l.document, true
		if w := p.objects[k]; w == nil {
			unused = append(unused, undigested{len(list), k, l.object})
		} else {
			o.Digest = p.digestOf(k, w, l.object)
			o.UsedBy = usersOf(w, podName)
		}
		list = append(list, o)
	}
	for i := range p.local.faults {
		f := &p.local.faults[i]
		list = append(list, api.Object{Namespace: f.claims.Namespace, Name: f.claims.Name, Local: true, Document: f.document, Err: f.err.Error()})
	}
	if err := p.local.health; err != nil {
		list = append(list, api.Object{Local: true, Document: p.cfg.Dir, Err: err.Error()})
	}
	p.mu.Unlock()
	for i := range unused {
		list[unused[i].at].Digest = p.makeDigest(unused[i].key, unused[i].object)
	}
	return list
}

func usersOf(w *watched, podName func(types.UID) string) []string {
	var users []string
	for by := range w.users {
		if name := podName(by.uid); name != "" {
			users = append(users, name)
		}
	}
	slices.Sort(users)
	return slices.Compact(users)
}

// described returns the description of an object, or of all objects of a namespace, without any
// values.
func described(k key, objects map[string]metav1.Object) api.Object {
	o := api.Object{Kind: k.kind.name, Namespace: k.Namespace, Name: k.Name, Local: k.local, Found: len(objects) > 0}
	if k.Name == "" {
		o.Keys = sortedNames(objects)
		return o
	}
	switch object := objects[k.Name].(type) {
	case *v1.ConfigMap:
		for name, text := range object.Data {
			o.Keys, o.Bytes = append(o.Keys, name), o.Bytes+len(text)
		}
		for name, bytes := range object.BinaryData {
			o.Keys, o.Bytes = append(o.Keys, name), o.Bytes+len(bytes)
		}
	case *v1.Secret:
		o.Keys = slices.Collect(maps.Keys(object.Data))
		for _, bytes := range object.Data {
			o.Bytes += len(bytes)
		}
	}
	slices.Sort(o.Keys)
	return o
}

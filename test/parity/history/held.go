package history

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// entry is one operation on one pod, as either side hands it on.
type entry struct {
	op  api.Op
	key key
	pod *v1.Pod
}

// held is a pod that was handed on and not taken back.
type held struct {
	// pod is the newest version handed on, added the first, updated the last
	// that came with ADD, UPDATE or DELETE.
	pod, added, updated *v1.Pod
	// origin is set on our side only.
	origin api.Origin
}

// take follows an entry; it fails where a kubelet's rules do not allow it.
func (e *entry) take(all map[key]*held) error {
	h := all[e.key]
	switch {
	case (e.op == api.Add || e.op == api.Restore) != (h == nil):
		return fmt.Errorf("%s of %s from %s, which is held: %t", e.op, e.key.uid, e.key.source, h != nil)
	case e.op == api.Remove:
		delete(all, e.key)
		return nil
	case h == nil:
		h = &held{added: e.pod}
		all[e.key] = h
	}
	h.pod = e.pod
	if e.op != api.Reconcile {
		h.updated = e.pod
	}
	return nil
}

// alone fails where two pods are held that may not be: with one UID, or of one
// identity of one source.
func alone(all map[key]*held) error {
	uids := map[types.UID]key{}
	type place struct {
		source   string
		identity types.NamespacedName
	}
	places := map[place]key{}
	for k, h := range all {
		if other, ok := uids[k.uid]; ok {
			return fmt.Errorf("%s is held from %s and from %s", k.uid, other.source, k.source)
		}
		at := place{k.source, pod.Identity(h.pod)}
		if other, ok := places[at]; ok {
			return fmt.Errorf("%s and %s are both held as %s of %s", other.uid, k.uid, at.identity, at.source)
		}
		uids[k.uid], places[at] = k, k
	}
	return nil
}

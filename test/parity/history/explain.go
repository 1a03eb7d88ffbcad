package history

import (
	"fmt"
	"maps"
	"reflect"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/wardlet/wardlet/core/pod"
)

// explain compares a pod that a kubelet hands on with ours. It returns the IDs of the differences
// that it recognises; the error describes any other difference. before is the pod that the kubelet
// handed on earlier, nil if there was none.
func explain(theirs, ours *v1.Pod, before *held) ([]string, error) {
	a, b := unseen(theirs), unseen(ours)
	if reflect.DeepEqual(a, b) {
		return nil, nil
	}
	var ids []string
	if before != nil {
		ids = stale(a, b, before)
	}
	switch {
	case reflect.DeepEqual(a, b):
		return ids, nil
	case equality.Semantic.DeepEqual(a, b):
		return append(ids, byMeaning), nil
	}
	return nil, fmt.Errorf("the pods differ (-kubelet +wardlet):\n%s", cmp.Diff(a, b))
}

// stale finds the fields of a in which a kubelet has kept the value of an earlier version. It
// copies these values to b, and returns the IDs of the differences that it found.
func stale(a, b *v1.Pod, before *held) (ids []string) {
	from, to := reflect.ValueOf(&a.ObjectMeta).Elem(), reflect.ValueOf(&b.ObjectMeta).Elem()
	take := func(field, id string, kept *v1.Pod) {
		theirs, ours := from.FieldByName(field), to.FieldByName(field)
		old := reflect.ValueOf(&kept.ObjectMeta).Elem().FieldByName(field)
		if reflect.DeepEqual(theirs.Interface(), ours.Interface()) || !reflect.DeepEqual(theirs.Interface(), old.Interface()) {
			return
		}
		ours.Set(theirs)
		ids = append(ids, id)
	}
	for _, field := range uncompared {
		if field != "Generation" {
			take(field, newestMetadata, before.added)
		}
	}
	take("Generation", newestMetadata, before.updated)
	take("Name", renamed, before.added)
	take("Namespace", renamed, before.added)
	theirs, isThere := a.Annotations[pod.AnnotationMirror]
	mirror, isHere := b.Annotations[pod.AnnotationMirror]
	old, wasThere := before.updated.Annotations[pod.AnnotationMirror]
	if (theirs != mirror || isThere != isHere) && theirs == old && isThere == wasThere {
		if b.Annotations[pod.AnnotationMirror] = theirs; !isThere {
			delete(b.Annotations, pod.AnnotationMirror)
		}
		ids = append(ids, newestMirror)
	}
	return ids
}

// unseen returns the pod without its first-seen time. That time is compared separately, and not as
// text.
func unseen(p *v1.Pod) *v1.Pod {
	out := *p
	out.Annotations = maps.Clone(p.Annotations)
	delete(out.Annotations, pod.AnnotationSeen)
	return &out
}

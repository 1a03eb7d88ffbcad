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

// explain compares a pod as a kubelet hands it on with ours. The differences
// it recognises are given by ID; the error names any other. before is what the
// kubelet handed on of the pod earlier, nil where nothing.
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

// stale takes from b what a kubelet has kept in a from an earlier version, and
// says which differences that are.
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

// unseen is the pod without the time it was first seen; what is compared of
// that is not the text.
func unseen(p *v1.Pod) *v1.Pod {
	out := *p
	out.Annotations = maps.Clone(p.Annotations)
	delete(out.Annotations, pod.AnnotationSeen)
	return &out
}

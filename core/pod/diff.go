package pod

import (
	"maps"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// Diff says in which fields two versions of a pod differ, as a kubelet
// compares them: annotations without those that only say where and when the
// pod was seen, and of the metadata nothing else but labels and deletion. It
// is 0 where one of them is nil.
func Diff(before, after *v1.Pod) Fields {
	if before == nil || after == nil || before == after {
		return 0
	}
	var f Fields
	if !equality.Semantic.DeepEqual(&before.Spec, &after.Spec) {
		f |= FieldSpec
	}
	if !maps.Equal(before.Labels, after.Labels) {
		f |= FieldLabels
	}
	if !maps.Equal(sharedAnnotations(before), sharedAnnotations(after)) {
		f |= FieldAnnotations
	}
	if !before.DeletionTimestamp.Equal(after.DeletionTimestamp) {
		f |= FieldDeletionTimestamp
	}
	if !equality.Semantic.DeepEqual(before.DeletionGracePeriodSeconds, after.DeletionGracePeriodSeconds) {
		f |= FieldDeletionGracePeriod
	}
	if !equality.Semantic.DeepEqual(&before.Status, &after.Status) {
		f |= FieldStatus
	}
	return f
}

// Meaningful reports whether a difference is more than one of status.
func Meaningful(f Fields) bool { return f&^FieldStatus != 0 }

// sharedAnnotations are the annotations without those local to this node.
func sharedAnnotations(p *v1.Pod) map[string]string {
	shared := maps.Clone(p.Annotations)
	for _, local := range []string{AnnotationSource, AnnotationSeen, AnnotationMirror} {
		delete(shared, local)
	}
	return shared
}

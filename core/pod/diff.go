package pod

import (
	"maps"
	"reflect"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// Fields is a set of the fields in which two versions of a pod differ.
type Fields uint16

// The fields by which a change is classified. All but FieldStatus are meaningful: a difference in
// them is an UPDATE or DELETE.
const (
	FieldSpec Fields = 1 << iota
	FieldLabels
	FieldAnnotations
	FieldDeletionTimestamp
	FieldDeletionGracePeriod
	FieldStatus
)

// Has reports whether f contains all of want.
func (f Fields) Has(want Fields) bool { return f&want == want }

// Diff returns the fields in which two versions of a pod differ, compared as in a kubelet. It
// ignores annotations that only say where and when the pod was seen, and all other metadata except
// labels, annotations and deletion. It returns 0 if one of the pods is nil.
func Diff(before, after *v1.Pod) Fields {
	if before == nil || after == nil || before == after {
		return 0
	}
	var f Fields
	if !same(&before.Spec, &after.Spec) {
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
	if !same(before.DeletionGracePeriodSeconds, after.DeletionGracePeriodSeconds) {
		f |= FieldDeletionGracePeriod
	}
	if !same(&before.Status, &after.Status) {
		f |= FieldStatus
	}
	return f
}

// same reports whether two values are semantically equal. Most often they are deeply equal, which
// is much cheaper to check.
func same[T any](before, after *T) bool {
	return reflect.DeepEqual(before, after) || equality.Semantic.DeepEqual(before, after)
}

// Meaningful reports whether f contains a field other than FieldStatus.
func Meaningful(f Fields) bool { return f&^FieldStatus != 0 }

// sharedAnnotations returns the annotations of a pod without those that are local to this node.
func sharedAnnotations(p *v1.Pod) map[string]string {
	shared := maps.Clone(p.Annotations)
	for _, local := range []string{AnnotationSource, AnnotationSeen, AnnotationMirror} {
		delete(shared, local)
	}
	return shared
}

// GatesChanged reports whether the condition of a readiness gate of the pod differs between old and
// next.
func GatesChanged(old, next *v1.Pod) bool {
	for _, gate := range next.Spec.ReadinessGates {
		if statusOf(old, gate.ConditionType) != statusOf(next, gate.ConditionType) {
			return true
		}
	}
	return false
}

func statusOf(p *v1.Pod, kind v1.PodConditionType) v1.ConditionStatus {
	if p != nil {
		for i := range p.Status.Conditions {
			if p.Status.Conditions[i].Type == kind {
				return p.Status.Conditions[i].Status
			}
		}
	}
	return ""
}

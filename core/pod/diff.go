package pod

import (
	"maps"
	"reflect"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// Fields is a set of the fields two versions of a pod differ in.
type Fields uint16

// The fields a change is classified by. All but FieldStatus are meaningful:
// a difference in them is an UPDATE or DELETE.
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

// Diff says in which fields two versions of a pod differ, as a kubelet
// compares them: annotations without those that only say where and when the
// pod was seen, and of the metadata nothing else but labels and deletion. It
// is 0 where one of them is nil.
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

// same reports whether two values mean the same. Most often they are equal word
// by word, which costs a fraction to see.
func same[T any](before, after *T) bool {
	return reflect.DeepEqual(before, after) || equality.Semantic.DeepEqual(before, after)
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

// GatesChanged reports whether a condition that a readiness gate of the pod waits for is another in next than in old.
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

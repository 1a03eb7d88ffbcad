package status

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Types of marks: conditions that policy's answers give a pod. They say what
// is true now and nothing else, so that no status keeps them on its own.
const (
	// ConditionAdmitted is False while a pod of which nothing runs is held.
	ConditionAdmitted v1.PodConditionType = "wardlet.dev/Admitted"
	// ConditionUpdateAdmitted is False while a newer version of a pod that
	// runs is held or denied.
	ConditionUpdateAdmitted v1.PodConditionType = "wardlet.dev/UpdateAdmitted"
)

// isMark reports whether conditions of this type are set by Mark alone.
func isMark(kind v1.PodConditionType) bool {
	return kind == ConditionAdmitted || kind == ConditionUpdateAdmitted
}

// Mark lays conditions over every status of a pod, in the place of those laid
// over it before; without any it takes those away. They are to be of the types
// named above: the same types are left out of what Set stores. A condition
// whose status was the same before keeps its transition time; for others the
// caller gives it. A pod without a status shows its marks once it has one.
func (s *Store) Mark(uid types.UID, conditions ...v1.PodCondition) {
	marks := slices.Clone(conditions)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range marks {
		m := &marks[i]
		if old := findCondition(s.marks[uid], m.Type); old != nil && old.Status == m.Status {
			m.LastTransitionTime = old.LastTransitionTime
		}
		wholeSeconds(&m.LastProbeTime)
		wholeSeconds(&m.LastTransitionTime)
	}
	if len(marks) == 0 {
		delete(s.marks, uid)
		return
	}
	s.marks[uid] = marks
}

// marked is st with the pod's marks. What st refers to is not changed: it may
// have been given out.
func (s *Store) marked(uid types.UID, st v1.PodStatus) v1.PodStatus {
	if marks := s.marks[uid]; len(marks) > 0 {
		st.Conditions = slices.Concat(st.Conditions, marks)
	}
	return st
}

// withoutMarks drops marks from conditions that belong to nobody else.
func withoutMarks(conditions []v1.PodCondition) []v1.PodCondition {
	return slices.DeleteFunc(conditions, func(c v1.PodCondition) bool { return isMark(c.Type) })
}

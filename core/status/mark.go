package status

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	// ConditionPolicyWarning is True for a pod that policy lets pass with a
	// warning.
	ConditionPolicyWarning v1.PodConditionType = "wardlet.dev/PolicyWarning"
	// ConditionMutated is True for a pod that policies have changed.
	ConditionMutated v1.PodConditionType = "wardlet.dev/Mutated"
	// ConditionPolicyViolation is True for a pod that runs and that policy would not
	// admit if it came now.
	ConditionPolicyViolation v1.PodConditionType = "wardlet.dev/PolicyViolation"
	// ConditionEditIgnored is True for a pod that has ended and whose document has been
	// edited since, in what its containers would be made from.
	ConditionEditIgnored v1.PodConditionType = "wardlet.dev/EditIgnored"
)

// isMark reports whether conditions of this type are set by Mark, Warn, Changed,
// Violates and EditIgnored alone.
func isMark(kind v1.PodConditionType) bool {
	return isWait(kind) || isWarning(kind) || isMutated(kind) || isViolation(kind) || isEditIgnored(kind)
}

func isWait(kind v1.PodConditionType) bool {
	return kind == ConditionAdmitted || kind == ConditionUpdateAdmitted
}

func isWarning(kind v1.PodConditionType) bool { return kind == ConditionPolicyWarning }

func isMutated(kind v1.PodConditionType) bool { return kind == ConditionMutated }

func isViolation(kind v1.PodConditionType) bool { return kind == ConditionPolicyViolation }

func isEditIgnored(kind v1.PodConditionType) bool { return kind == ConditionEditIgnored }

// Mark lays conditions over every status of a pod, in the place of those laid
// over it before; without any it takes those away. They are to be of the first
// two types named above: the same types are left out of what Set stores. A
// condition whose status was the same before keeps its transition time; for
// others the caller gives it. A pod without a status shows its marks once it has
// one.
func (s *Store) Mark(uid types.UID, conditions ...v1.PodCondition) {
	s.lay(uid, conditions, isWait)
}

// Warn is Mark for ConditionPolicyWarning; an empty message takes it away. Mark,
// Warn, Changed, Violates and EditIgnored each leave the conditions of the others.
func (s *Store) Warn(uid types.UID, reason, message string, since time.Time) {
	s.lay(uid, positive(ConditionPolicyWarning, reason, message, since), isWarning)
}

// Changed is Warn for ConditionMutated.
func (s *Store) Changed(uid types.UID, reason, message string, since time.Time) {
	s.lay(uid, positive(ConditionMutated, reason, message, since), isMutated)
}

// Violates is Warn for ConditionPolicyViolation.
func (s *Store) Violates(uid types.UID, reason, message string, since time.Time) {
	s.lay(uid, positive(ConditionPolicyViolation, reason, message, since), isViolation)
}

// EditIgnored is Warn for ConditionEditIgnored.
func (s *Store) EditIgnored(uid types.UID, reason, message string, since time.Time) {
	s.lay(uid, positive(ConditionEditIgnored, reason, message, since), isEditIgnored)
}

// positive is a condition that is True, none without a message.
func positive(kind v1.PodConditionType, reason, message string, since time.Time) []v1.PodCondition {
	if message == "" {
		return nil
	}
	return []v1.PodCondition{{
		Type: kind, Status: v1.ConditionTrue, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(since),
	}}
}

// lay puts conditions in the place of those of some types.
func (s *Store) lay(uid types.UID, conditions []v1.PodCondition, replaces func(v1.PodConditionType) bool) {
	marks := slices.Clone(conditions)
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.tell()
	for i := range s.marks[uid] {
		if old := s.marks[uid][i]; !replaces(old.Type) {
			marks = append(marks, old)
		}
	}
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

package status

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

// isMark reports whether conditions of this type are set only by SetWaiting, SetPolicyWarning,
// SetMutated, SetPolicyViolation and SetEditIgnored.
func isMark(kind v1.PodConditionType) bool {
	return isWait(kind) || isWarning(kind) || isMutated(kind) || isViolation(kind) || isEditIgnored(kind)
}

func isWait(kind v1.PodConditionType) bool {
	return kind == api.ConditionAdmitted || kind == api.ConditionUpdateAdmitted
}

func isWarning(kind v1.PodConditionType) bool { return kind == api.ConditionPolicyWarning }

func isMutated(kind v1.PodConditionType) bool { return kind == api.ConditionMutated }

func isViolation(kind v1.PodConditionType) bool { return kind == api.ConditionPolicyViolation }

func isEditIgnored(kind v1.PodConditionType) bool { return kind == api.ConditionEditIgnored }

// SetWaiting replaces the conditions ConditionAdmitted and ConditionUpdateAdmitted of a pod;
// without conditions it removes them. They appear in every status of the pod once it has one, and
// Set does not store them. A condition whose status does not change keeps its transition time; the
// caller sets that of the others.
func (s *Store) SetWaiting(uid types.UID, conditions ...v1.PodCondition) {
	s.setConditions(uid, conditions, isWait)
}

// SetPolicyWarning sets ConditionPolicyWarning to True, like SetWaiting; an empty message removes
// it. This method and the following ones do not change the other conditions.
func (s *Store) SetPolicyWarning(uid types.UID, reason, message string, since time.Time) {
	s.setConditions(uid, trueCondition(api.ConditionPolicyWarning, reason, message, since), isWarning)
}

// SetMutated is SetPolicyWarning for ConditionMutated.
func (s *Store) SetMutated(uid types.UID, reason, message string, since time.Time) {
	s.setConditions(uid, trueCondition(api.ConditionMutated, reason, message, since), isMutated)
}

// SetPolicyViolation is SetPolicyWarning for ConditionPolicyViolation.
func (s *Store) SetPolicyViolation(uid types.UID, reason, message string, since time.Time) {
	s.setConditions(uid, trueCondition(api.ConditionPolicyViolation, reason, message, since), isViolation)
}

// SetEditIgnored is SetPolicyWarning for ConditionEditIgnored.
func (s *Store) SetEditIgnored(uid types.UID, reason, message string, since time.Time) {
	s.setConditions(uid, trueCondition(api.ConditionEditIgnored, reason, message, since), isEditIgnored)
}

// trueCondition returns a condition that is True, none for an empty message.
func trueCondition(kind v1.PodConditionType, reason, message string, since time.Time) []v1.PodCondition {
	if message == "" {
		return nil
	}
	return []v1.PodCondition{{
		Type: kind, Status: v1.ConditionTrue, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(since),
	}}
}

// setConditions replaces the marks whose types replaces selects.
func (s *Store) setConditions(uid types.UID, conditions []v1.PodCondition, replaces func(v1.PodConditionType) bool) {
	marks := slices.Clone(conditions)
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.onChange(uid)
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
		truncateSeconds(&m.LastProbeTime)
		truncateSeconds(&m.LastTransitionTime)
	}
	if len(marks) == 0 {
		delete(s.marks, uid)
		return
	}
	s.marks[uid] = marks
}

// withMarks returns st with the marks of the pod. It does not modify the memory that st refers to,
// because other callers may read it.
func (s *Store) withMarks(uid types.UID, st v1.PodStatus) v1.PodStatus {
	if marks := s.marks[uid]; len(marks) > 0 {
		st.Conditions = slices.Concat(st.Conditions, marks)
	}
	return st
}

// withoutMarks removes the marks from conditions. conditions must not be shared, because it is
// modified.
func withoutMarks(conditions []v1.PodCondition) []v1.PodCondition {
	return slices.DeleteFunc(conditions, func(c v1.PodCondition) bool { return isMark(c.Type) })
}

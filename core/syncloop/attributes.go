package syncloop

import (
	"cmp"
	"slices"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/pod"
)

// attributes are what a pod is judged by. Those it starts after anyway are not
// among the others: the one whose place it takes, and of static pods those of its
// full name. A pod that is rejected for good does not see what was removed and is
// about to leave, as with a kubelet; any other waits for that.
func (l *Loop) attributes(m member) *admission.Attributes {
	a := &admission.Attributes{Pod: m.pod, Verdict: m.verdict}
	static := pod.IsStatic(m.pod)
	var ending []user
	for _, u := range l.present() {
		precedes := u.pod.UID == m.after || static && pod.IsStatic(u.pod) && pod.FullName(u.pod) == pod.FullName(m.pod)
		switch {
		case u.pod.UID == m.pod.UID, u.ending && precedes, u.removed && !static:
		case u.ending:
			ending = append(ending, u)
		default:
			a.Others = append(a.Others, u.pod)
		}
	}
	slices.SortStableFunc(ending, func(a, b user) int { return cmp.Compare(a.left, b.left) })
	for _, u := range ending {
		a.Ending = append(a.Ending, u.pod)
	}
	return a
}

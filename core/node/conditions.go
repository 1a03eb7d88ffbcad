package node

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Pressure says why resources are running out; an empty string means that one is not.
type Pressure struct{ Memory, Disk, PID string }

// SetConditions sets the conditions of a node. notReady is the reason why pods cannot run, empty if
// they can. A condition with an unchanged status keeps its transition time.
func SetConditions(st *v1.NodeStatus, notReady string, p Pressure, now metav1.Time) {
	SetPressure(st, p, now)
	if notReady != "" {
		setCondition(st, v1.NodeReady, false, "KubeletNotReady", notReady, now)
	} else {
		setCondition(st, v1.NodeReady, true, "KubeletReady", "kubelet is posting ready status", now)
	}
}

// SetPressure sets the conditions of a node except Ready, as SetConditions does.
func SetPressure(st *v1.NodeStatus, p Pressure, now metav1.Time) {
	for _, c := range []struct {
		kind                    v1.NodeConditionType
		why, low, well, message string
	}{
		{v1.NodeMemoryPressure, p.Memory, "KubeletHasInsufficientMemory", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"},
		{v1.NodeDiskPressure, p.Disk, "KubeletHasDiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"},
		{v1.NodePIDPressure, p.PID, "KubeletHasInsufficientPID", "KubeletHasSufficientPID", "kubelet has sufficient PID available"},
	} {
		if c.why == "" {
			setCondition(st, c.kind, false, c.well, c.message, now)
		} else {
			setCondition(st, c.kind, true, c.low, c.why, now)
		}
	}
}

func setCondition(st *v1.NodeStatus, kind v1.NodeConditionType, is bool, reason, message string, now metav1.Time) {
	c := v1.NodeCondition{Type: kind, Status: v1.ConditionFalse, Reason: reason, Message: message, LastTransitionTime: now}
	if is {
		c.Status = v1.ConditionTrue
	}
	i := slices.IndexFunc(st.Conditions, func(c v1.NodeCondition) bool { return c.Type == kind })
	if i < 0 {
		st.Conditions = append(st.Conditions, c)
		return
	}
	if old := &st.Conditions[i]; old.Status == c.Status {
		c.LastTransitionTime = old.LastTransitionTime
	}
	st.Conditions[i] = c
}

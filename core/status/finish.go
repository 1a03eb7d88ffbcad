package status

import (
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// Finish is the last status of a pod, once all it had on the node is gone.
// Containers that were never seen to end count as killed, unless the pod had
// not been initialised; a pod that is not static and has no terminal phase
// has failed.
func Finish(p *v1.Pod, st v1.PodStatus) v1.PodStatus {
	st = *st.DeepCopy()
	initialized := Condition(&st, v1.PodInitialized)
	if len(p.Spec.InitContainers) == 0 || (initialized != nil && initialized.Status == v1.ConditionTrue) {
		for i := range st.ContainerStatuses {
			c := &st.ContainerStatuses[i]
			if c.State.Terminated == nil {
				c.State = lost()
				c.Ready = false
				c.Started = new(false)
			}
		}
	}
	if st.Phase != v1.PodSucceeded && st.Phase != v1.PodFailed && !pod.IsStatic(p) {
		st.Phase = v1.PodFailed
	}
	return st
}

package mux

import (
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// Desired is a pod of the desired set.
type Desired struct {
	Pod    *v1.Pod
	Origin pod.Origin
}

// Pods are the pods the sync loop has or is about to get, in no order.
func (m *Mux) Pods() []Desired {
	m.mu.RLock()
	defer m.mu.RUnlock()
	pods := make([]Desired, 0, len(m.store.owner))
	for _, sl := range m.store.owner {
		pods = append(pods, Desired{Pod: sl.sent.pod, Origin: sl.sent.origin})
	}
	return pods
}

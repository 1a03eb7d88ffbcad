package server

import (
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
)

// Waiting returns the versions of pods that policy has not admitted. The server does not change
// them.
type Waiting interface {
	List() []api.Waiting
}

// waitingList returns the waiting versions in the form for clients.
func waitingList(from Waiting, showEnv bool) []api.Waiting {
	if from == nil {
		return []api.Waiting{}
	}
	return waitsShown(from.List(), showEnv)
}

// waitsShown returns waiting versions in the form for clients, with their pods as in podList.
func waitsShown(waits []api.Waiting, showEnv bool) []api.Waiting {
	out := []api.Waiting{}
	for _, w := range waits {
		w.Pod, w.Running = shown(w.Pod, showEnv), shown(w.Running, showEnv)
		out = append(out, w)
	}
	return out
}

func shown(p *v1.Pod, showEnv bool) *v1.Pod {
	if p == nil {
		return nil
	}
	return new(podShown(p, showEnv))
}

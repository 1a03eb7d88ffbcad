package pleg

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// EventType is what happened to a pod.
type EventType string

// The events the sync loop gets. Sandboxes count as containers.
const (
	ContainerStarted EventType = "ContainerStarted"
	ContainerDied    EventType = "ContainerDied"
	ContainerRemoved EventType = "ContainerRemoved"
	// PodSync says that a pod could be inspected again after a failure. It
	// names no container.
	PodSync EventType = "PodSync"
)

// containerChanged is a change to a state that says nothing: the pod is
// inspected, but nobody is told.
const containerChanged EventType = "ContainerChanged"

// Event is one step in the life of a pod.
type Event struct {
	UID         types.UID
	Type        EventType
	ContainerID string
}

// states are the states of a pod's containers and sandboxes by ID. What is
// absent does not exist.
type states map[string]status.ContainerState

func statesOf(p *status.ObservedPod) states {
	out := make(states, len(p.Sandboxes)+len(p.Containers))
	for i := range p.Sandboxes {
		state := status.StateExited
		if p.Sandboxes[i].Ready {
			state = status.StateRunning
		}
		out[p.Sandboxes[i].ID] = state
	}
	for i := range p.Containers {
		state := p.Containers[i].State
		if state != status.StateRunning && state != status.StateExited {
			state = status.StateUnknown
		}
		out[p.Containers[i].ID] = state
	}
	return out
}

// diff is what has happened between two observations of a pod, by container.
func diff(uid types.UID, before, after states) []Event {
	ids := maps.Clone(after)
	if ids == nil {
		ids = states{}
	}
	maps.Copy(ids, before)

	var out []Event
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		was, is := before[id], after[id]
		if was == is {
			continue
		}
		add := func(t EventType) { out = append(out, Event{UID: uid, Type: t, ContainerID: id}) }
		switch is {
		case status.StateRunning:
			add(ContainerStarted)
		case status.StateExited:
			add(ContainerDied)
		case status.StateUnknown:
			add(containerChanged)
		default: // it is gone
			if was != status.StateExited {
				add(ContainerDied)
			}
			add(ContainerRemoved)
		}
	}
	return out
}

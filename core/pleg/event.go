package pleg

import "k8s.io/apimachinery/pkg/types"

// EventType is what happened to a pod.
type EventType string

// The events the sync loop gets. Sandboxes count as containers.
const (
	ContainerStarted EventType = "ContainerStarted"
	ContainerDied    EventType = "ContainerDied"
	ContainerRemoved EventType = "ContainerRemoved"
	// PodSync says that a pod could be inspected again after a failure, or is
	// gone after one. It names no container.
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

// deliver hands events to the sync loop, or drops them.
func (g *Generator) deliver(events []Event) {
	dropped := 0
	for _, e := range events {
		if e.Type == containerChanged {
			continue
		}
		select {
		case g.events <- e:
		default:
			dropped++
		}
	}
	if dropped > 0 {
		g.dropped.Add(uint64(dropped))
		g.cfg.Observer.Dropped(dropped)
		if g.full.Due("", "", g.cfg.Now()) {
			g.cfg.Logger.Error("pod events dropped, the sync loop does not keep up", "total", g.Dropped())
		}
	}
}

package pleg

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// EventType is the kind of an Event.
type EventType string

// The events that the sync loop gets. Sandboxes count as containers.
const (
	ContainerStarted EventType = "ContainerStarted"
	ContainerDied    EventType = "ContainerDied"
	ContainerRemoved EventType = "ContainerRemoved"
	// PodSync means that a pod could be inspected again after a failure, or is gone after one. It
	// names no container.
	PodSync EventType = "PodSync"
)

// containerChanged is a change to an unknown state: the pod is inspected, but no event is sent to
// the sync loop.
const containerChanged EventType = "ContainerChanged"

// Event is one change in the life of a pod.
type Event struct {
	UID         types.UID
	Type        EventType
	ContainerID string
}

// deliver sends events to the sync loop, or drops them if their channel is full.
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
		if g.overflowErr.Due("", "", g.cfg.Now()) {
			g.cfg.Logger.Error("pod events dropped, the sync loop does not keep up", "total", g.Dropped())
		}
	}
}

// states are the states of a pod's containers followed by those of its sandboxes, in the order in
// which the runtime shows them. What is not in it does not exist. nil means that the pod does not
// exist.
type states []containerState

type containerState struct {
	id    string
	state status.ContainerState
}

func statesOf(p *status.ObservedPod) states {
	out := make(states, 0, len(p.Containers)+len(p.Sandboxes))
	for i := range p.Containers {
		out = append(out, stateOfContainer(&p.Containers[i]))
	}
	for i := range p.Sandboxes {
		out = append(out, stateOfSandbox(&p.Sandboxes[i]))
	}
	return out
}

func stateOfContainer(c *status.ObservedContainer) containerState {
	if c.State == status.StateRunning || c.State == status.StateExited {
		return containerState{c.ID, c.State}
	}
	return containerState{c.ID, status.StateUnknown}
}

func stateOfSandbox(s *status.ObservedSandbox) containerState {
	if s.Ready {
		return containerState{s.ID, status.StateRunning}
	}
	return containerState{s.ID, status.StateExited}
}

// match reports whether s are the states of p, in the same order.
func (s states) match(p *status.ObservedPod) bool {
	if s == nil || len(s) != len(p.Containers)+len(p.Sandboxes) {
		return false
	}
	for i := range p.Containers {
		if s[i] != stateOfContainer(&p.Containers[i]) {
			return false
		}
	}
	rest := s[len(p.Containers):]
	for i := range p.Sandboxes {
		if rest[i] != stateOfSandbox(&p.Sandboxes[i]) {
			return false
		}
	}
	return true
}

// equal reports whether s and o are states of the same pod with the same content, in any order.
func (s states) equal(o states) bool {
	switch {
	case (s == nil) != (o == nil) || len(s) != len(o):
		return false
	case len(s) == 0 || &s[0] == &o[0] || slices.Equal(s, o):
		return true
	}
	return len(diff("", s, o)) == 0
}

func (s states) has(id string) bool {
	return slices.ContainsFunc(s, func(c containerState) bool { return c.id == id })
}

// unsettled reports whether something is in a state that will probably change soon: created but not
// started, or unknown.
func (s states) unsettled() bool {
	return slices.ContainsFunc(s, func(c containerState) bool { return c.state == status.StateUnknown })
}

// allExited reports whether, as far as is known, nothing runs.
func (s states) allExited() bool {
	return !slices.ContainsFunc(s, func(c containerState) bool { return c.state != status.StateExited })
}

func (s states) byID() map[string]status.ContainerState {
	out := make(map[string]status.ContainerState, len(s))
	for _, c := range s {
		out[c.id] = c.state
	}
	return out
}

// diff returns the events between two observations of a pod, container by container: first the
// containers of before in their order, then the new ones of after in theirs.
func diff(uid types.UID, before, after states) []Event {
	var out []Event
	was, is := before.byID(), after.byID()
	for _, c := range before {
		out = appendEvents(out, uid, c.id, c.state, is[c.id])
	}
	for _, c := range after {
		if _, known := was[c.id]; !known {
			out = appendEvents(out, uid, c.id, "", c.state)
		}
	}
	return out
}

// appendEvents appends the events for the change of one container. An empty state means that the
// container does not exist.
func appendEvents(out []Event, uid types.UID, id string, was, is status.ContainerState) []Event {
	if was == is {
		return out
	}
	switch is {
	case status.StateRunning:
		return append(out, Event{uid, ContainerStarted, id})
	case status.StateExited:
		return append(out, Event{uid, ContainerDied, id})
	case status.StateUnknown:
		return append(out, Event{uid, containerChanged, id})
	}
	if was != status.StateExited {
		out = append(out, Event{uid, ContainerDied, id})
	}
	return append(out, Event{uid, ContainerRemoved, id})
}

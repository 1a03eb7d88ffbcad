package status

import (
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// ProbeResult is what a probe has found of a container.
type ProbeResult int

// The results of probes.
const (
	// ProbeUnknown: nothing yet.
	ProbeUnknown ProbeResult = iota
	// ProbeSucceeded and ProbeFailed: so many times in a row that it counts.
	ProbeSucceeded
	ProbeFailed
)

// What is said of a container that a probe wants restarted, by the probe.
const (
	FailedStartup  = "failed startup probe"
	FailedLiveness = "failed liveness probe"
)

// Probes have the results of probes, by the runtime's IDs of containers. The methods do not block.
type Probes interface {
	Started(id string) ProbeResult
	Ready(id string) ProbeResult
}

// hasStarted reports whether a container that runs has started. One whose startup probe has found nothing yet is what it was
// reported as last: the agent may have started again meanwhile, and the container has not.
func (in *Input) hasStarted(c *v1.Container, st, old *v1.ContainerStatus) bool {
	if c.StartupProbe == nil {
		return true
	}
	if in.Probes != nil {
		if found := in.Probes.Started(bareID(st.ContainerID)); found != ProbeUnknown {
			return found == ProbeSucceeded
		}
	}
	return old != nil && old.ContainerID == st.ContainerID && old.Started != nil && *old.Started
}

// isReady reports whether a container that has started is ready, as hasStarted does.
func (in *Input) isReady(c *v1.Container, st, old *v1.ContainerStatus) bool {
	if c.ReadinessProbe == nil {
		return true
	}
	if in.Probes != nil {
		if found := in.Probes.Ready(bareID(st.ContainerID)); found != ProbeUnknown {
			return found == ProbeSucceeded
		}
	}
	return old != nil && old.ContainerID == st.ContainerID && old.Ready
}

func bareID(id string) string {
	_, id, _ = strings.Cut(id, "://")
	return id
}

// SetProbed writes what a probe has found of the container with the runtime's ID into the status of its pod, at once: whether
// it has started, or whether it is ready. It does nothing where the container is not, or no longer, the one that the status
// shows as running.
func (s *Store) SetProbed(p *v1.Pod, container, id string, startup, ok bool, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, known := s.statuses[p.UID]
	if !known {
		return
	}
	next := *old.DeepCopy()
	own := pod.ContainerStatus(&next, container)
	if own == nil || own.State.Running == nil || bareID(own.ContainerID) != id {
		return
	}
	c, _ := pod.Container(p, container)
	switch {
	case c == nil:
		return
	case startup:
		own.Started = &ok
		own.Ready = ok && c.ReadinessProbe == nil
	default:
		own.Ready = ok && own.Started != nil && *own.Started
	}
	for _, c := range ofContainers(p, &next, next.Conditions, old.Conditions) {
		is := findCondition(next.Conditions, c.Type)
		if is == nil {
			continue
		}
		if is.Status != c.Status {
			is.LastTransitionTime = metav1.NewTime(now)
		}
		is.Status, is.Reason, is.Message = c.Status, c.Reason, c.Message
	}
	normalize(&next)
	if equalStatus(&old, &next) {
		return
	}
	s.statuses[p.UID] = next
	s.onChange(p.UID)
}

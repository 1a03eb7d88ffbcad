package status

import (
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// ProbeResult is the result of a probe of a container.
type ProbeResult int

// The results of probes.
const (
	// ProbeUnknown: there is no result yet.
	ProbeUnknown ProbeResult = iota
	// ProbeSucceeded and ProbeFailed: the probe has returned this result as many times in a row as
	// its threshold requires.
	ProbeSucceeded
	ProbeFailed
)

// The results of Probes.Failed in package worker, as they appear in messages.
const (
	FailedStartup  = "failed startup probe"
	FailedLiveness = "failed liveness probe"
)

// Probes returns probe results, by the runtime's container IDs. The methods do not block.
type Probes interface {
	Started(id string) ProbeResult
	Ready(id string) ProbeResult
}

// hasStarted reports whether a running container has started. If its startup probe has no result
// yet, the last reported status decides: the agent may have restarted although the container has
// not.
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

// isReady reports whether a started container is ready. Without a probe result it uses the last
// reported status, as hasStarted does.
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

// SetProbed writes a probe result into the status of the pod at once. id is the runtime's ID of the
// container. If startup is true, ok is whether the container has started, else whether it is ready.
// It does nothing if the status does not show that container as running.
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

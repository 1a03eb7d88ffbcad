package describe

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/printable"
)

// reasonUnhealthy is the reason of events about probes that failed.
const reasonUnhealthy = "Unhealthy"

// NotReady returns a line for each container that keeps a pod from being ready, with the reason,
// and for each readiness gate that is closed. It returns none for a terminating or terminated pod.
// Containers with the same reason for waiting share a line. events are the events about the pod,
// the newest last, which include the results of probes.
func NotReady(p *v1.Pod, events []api.Event) []string {
	if p.DeletionTimestamp != nil || pod.IsTerminal(p.Status.Phase) {
		return nil
	}
	var lines []string
	for c, kind := range pod.Containers(p) {
		st := pod.ContainerStatus(&p.Status, c.Name)
		if st == nil || kind == pod.EphemeralContainer {
			continue
		}
		line := waitingReason(st)
		switch {
		case line != "" || st.State.Waiting != nil:
		case kind == pod.InitContainer:
			line = initReason(st)
		case !st.Ready:
			line = unreadyReason(p, c, st, events)
		}
		if line != "" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	if c := api.Condition(&p.Status, v1.PodReady); c != nil && c.Status != v1.ConditionTrue && c.Reason == "ReadinessGatesNotReady" {
		lines = append(lines, "readiness gates: "+printable.Joined(c.Message))
	}
	return lines
}

// NeedsEvents reports whether NotReady uses events for this pod.
func NeedsEvents(p *v1.Pod) bool {
	for c, kind := range pod.Containers(p) {
		if st := pod.ContainerStatus(&p.Status, c.Name); st != nil && st.State.Running != nil && !st.Ready && kind != pod.EphemeralContainer {
			return true
		}
	}
	return false
}

// waitingReason returns why a container is not started. It is empty for a container that does not
// wait, waits for its turn, or is being created.
func waitingReason(st *v1.ContainerStatus) string {
	wait := st.State.Waiting
	if wait == nil {
		return ""
	}
	message := printable.Joined(wait.Message)
	switch wait.Reason {
	case "", "PodInitializing", api.ReasonWaitingForPredecessor:
		return ""
	case "ContainerCreating":
		if message == "" {
			return ""
		}
		return "not started yet: " + message // the same for all containers of the pod
	case "CrashLoopBackOff":
		var details []string
		if delay, _, ok := strings.Cut(strings.TrimPrefix(message, "back-off "), " restarting "); ok {
			details = append(details, "back-off "+delay)
		}
		if t := st.LastTerminationState.Terminated; t != nil {
			details = append(details, exit(t))
		}
		return of(st, "CrashLoopBackOff", strings.Join(details, ", "))
	}
	line := "container " + st.Name + ": " + printable.Line(wait.Reason)
	if message != "" {
		line += ": " + message
	}
	return line
}

// initReason returns how an init container delays the ones after it; empty for a finished one.
func initReason(st *v1.ContainerStatus) string {
	switch t := st.State.Terminated; {
	case t != nil && t.ExitCode != 0:
		return of(st, ended(t), exit(t))
	case st.State.Running != nil:
		return "container " + st.Name + ": init container is running"
	}
	return ""
}

// unreadyReason returns why a started container or sidecar is not ready.
func unreadyReason(p *v1.Pod, c *v1.Container, st *v1.ContainerStatus, events []api.Event) string {
	if t := st.State.Terminated; t != nil {
		return of(st, ended(t), exit(t))
	}
	kind, probe := "readiness", c.ReadinessProbe
	if c.StartupProbe != nil && !isSet(st.Started) {
		kind, probe = "startup", c.StartupProbe
	}
	if probe == nil || st.State.Running == nil {
		return "" // it is ready once its status says that it runs
	}
	path := pod.FieldPath(p, st.Name)
	for _, e := range slices.Backward(events) {
		if e.UID != p.UID || e.FieldPath != path || e.Reason != reasonUnhealthy || e.Last.Before(st.State.Running.StartedAt.Time) {
			continue
		}
		if what, rest, ok := strings.Cut(e.Message, " "); ok && strings.EqualFold(what, kind) {
			return "container " + st.Name + ": " + kind + " " + printable.Joined(rest)
		}
	}
	return "container " + st.Name + ": " + kind + " probe has not succeeded yet"
}

// of returns the line of a container with a reason and details.
func of(st *v1.ContainerStatus, reason, details string) string {
	line := "container " + st.Name + ": " + printable.Line(reason)
	if details != "" {
		line += " (" + details + ")"
	}
	return line
}

// exit describes how a container terminated.
func exit(t *v1.ContainerStateTerminated) string {
	if t.Signal != 0 {
		return fmt.Sprintf("signal %d", t.Signal)
	}
	return fmt.Sprintf("exit code %d", t.ExitCode)
}

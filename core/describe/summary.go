package describe

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// Summary is a pod in one line, as `kubectl get pods` prints it.
type Summary struct {
	// Ready is the number of ready containers and sidecars, of Total.
	Ready, Total int
	// Status is the STATUS column: the phase, or a more precise reason.
	Status string
	// Restarts is the number of restarts of containers.
	Restarts int
	// LastRestart is the time of the termination before the newest restart; zero for none.
	LastRestart time.Time
}

// Cells returns the columns READY, STATUS and RESTARTS.
func (s *Summary) Cells(now time.Time) (ready, status, restarts string) {
	restarts = strconv.Itoa(s.Restarts)
	if s.Restarts > 0 && !s.LastRestart.IsZero() {
		restarts += " (" + age(now, s.LastRestart) + " ago)"
	}
	return fmt.Sprintf("%d/%d", s.Ready, s.Total), s.Status, restarts
}

// Summarize returns the row of a pod. Status has kubectl's words and two more: Held, for a pod that
// policy does not admit yet, and Failed, for a failed pod whose containers succeeded.
func Summarize(p *v1.Pod) Summary {
	s := Summary{Total: len(p.Spec.Containers), Status: string(p.Status.Phase)}
	if p.Status.Reason != "" {
		s.Status = p.Status.Reason
	}
	if c := api.Condition(&p.Status, v1.PodScheduled); c != nil && c.Reason == v1.PodReasonSchedulingGated {
		s.Status = c.Reason
	}
	if starting := s.addInit(p); !starting || isTrue(p, v1.PodInitialized) {
		s.addContainers(p)
	}
	if p.Status.Phase == v1.PodFailed && s.Status == "Completed" {
		s.Status = cmp.Or(p.Status.Reason, string(v1.PodFailed)) // its containers succeeded, but the pod failed
	}
	if isHeld(p) {
		s.Status = "Held"
	}
	if p.DeletionTimestamp != nil {
		switch {
		case p.Status.Reason == "NodeLost":
			s.Status = "Unknown"
		case !pod.IsTerminal(p.Status.Phase):
			s.Status = "Terminating"
		}
	}
	return s
}

// addInit counts init containers and reports whether one of them still delays the others. If so, it
// sets the status. Restarts of finished init containers are counted only until all are finished.
func (s *Summary) addInit(p *v1.Pod) (starting bool) {
	sidecars := map[string]bool{}
	for c, kind := range pod.Containers(p) {
		if kind == pod.Sidecar {
			sidecars[c.Name] = true
			s.Total++
		}
	}
	var all Summary
	for i := range p.Status.InitContainerStatuses {
		st := &p.Status.InitContainerStatuses[i]
		all.addRestarts(st)
		sidecar := sidecars[st.Name]
		if sidecar {
			s.addRestarts(st)
		}
		switch t := st.State.Terminated; {
		case t != nil && t.ExitCode == 0:
			continue
		case sidecar && st.Started != nil && *st.Started:
			if st.Ready {
				s.Ready++
			}
			continue
		case t != nil:
			s.Status = "Init:" + ended(t)
		case st.State.Waiting != nil && st.State.Waiting.Reason != "" && st.State.Waiting.Reason != "PodInitializing":
			s.Status = "Init:" + st.State.Waiting.Reason
		default:
			s.Status = fmt.Sprintf("Init:%d/%d", i, len(p.Spec.InitContainers))
		}
		if !isTrue(p, v1.PodInitialized) {
			s.Restarts, s.LastRestart = all.Restarts, all.LastRestart
		}
		return true
	}
	return false
}

// addContainers counts the containers. The first one that does not run determines the status.
func (s *Summary) addContainers(p *v1.Pod) {
	var stopped, failed string
	running := false
	for i := range p.Status.ContainerStatuses {
		st := &p.Status.ContainerStatuses[i]
		s.addRestarts(st)
		why := ""
		switch {
		case st.State.Waiting != nil && st.State.Waiting.Reason != "":
			why = st.State.Waiting.Reason
		case st.State.Terminated != nil:
			why = ended(st.State.Terminated)
			if st.State.Terminated.ExitCode != 0 && failed == "" {
				failed = why
			}
		case st.Ready && st.State.Running != nil:
			running = true
			s.Ready++
		}
		if stopped == "" {
			stopped = why
		}
	}
	if stopped != "" {
		s.Status = stopped
	}
	if s.Status != "Completed" {
		return
	}
	switch {
	case running && isTrue(p, v1.PodReady):
		s.Status = "Running"
	case failed != "":
		s.Status = failed
	case running:
		s.Status = "NotReady"
	}
}

func (s *Summary) addRestarts(st *v1.ContainerStatus) {
	s.Restarts += int(st.RestartCount)
	if t := st.LastTerminationState.Terminated; t != nil && t.FinishedAt.After(s.LastRestart) {
		s.LastRestart = t.FinishedAt.Time
	}
}

// ended describes how a container terminated: its reason, else its signal or exit code.
func ended(t *v1.ContainerStateTerminated) string {
	switch {
	case t.Reason != "":
		return t.Reason
	case t.Signal != 0:
		return fmt.Sprintf("Signal:%d", t.Signal)
	}
	return fmt.Sprintf("ExitCode:%d", t.ExitCode)
}

// isHeld reports whether policy has not admitted any container of p yet.
func isHeld(p *v1.Pod) bool {
	admitted := api.Condition(&p.Status, api.ConditionAdmitted)
	return p.Status.Phase == v1.PodPending && admitted != nil && admitted.Status == v1.ConditionFalse
}

func isTrue(p *v1.Pod, condition v1.PodConditionType) bool {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == condition {
			return c.Status == v1.ConditionTrue
		}
	}
	return false
}

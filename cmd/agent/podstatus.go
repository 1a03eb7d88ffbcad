package main

import (
	"cmp"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// summary is a pod in one line, with the words kubectl uses.
type summary struct {
	ready, total int
	// status is the STATUS column: the phase, or what explains it better.
	status   string
	restarts int
	// lastRestart is when the newest restart became necessary; zero for none.
	lastRestart time.Time
}

func summarize(p *v1.Pod) summary {
	s := summary{total: len(p.Spec.Containers), status: string(p.Status.Phase)}
	if p.Status.Reason != "" {
		s.status = p.Status.Reason
	}
	if starting := s.addInit(p); !starting || isTrue(p, v1.PodInitialized) {
		s.addContainers(p)
	}
	if p.Status.Phase == v1.PodFailed && s.status == "Completed" {
		s.status = cmp.Or(p.Status.Reason, string(v1.PodFailed)) // its containers ended well, and the pod did not
	}
	if isHeld(p) {
		s.status = "Held"
	}
	if p.DeletionTimestamp != nil {
		switch {
		case p.Status.Reason == "NodeLost":
			s.status = "Unknown"
		case !pod.IsTerminal(p.Status.Phase):
			s.status = "Terminating"
		}
	}
	return s
}

// addInit counts init containers and reports whether one of them still keeps
// the others from starting; then it is the status. Restarts of those that have
// done their work count only as long as others have not.
func (s *summary) addInit(p *v1.Pod) (starting bool) {
	sidecars := map[string]bool{}
	for c, kind := range pod.Containers(p) {
		if kind == pod.Sidecar {
			sidecars[c.Name] = true
			s.total++
		}
	}
	var all summary
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
				s.ready++
			}
			continue
		case t != nil:
			s.status = "Init:" + ended(t)
		case st.State.Waiting != nil && st.State.Waiting.Reason != "" && st.State.Waiting.Reason != "PodInitializing":
			s.status = "Init:" + st.State.Waiting.Reason
		default:
			s.status = fmt.Sprintf("Init:%d/%d", i, len(p.Spec.InitContainers))
		}
		if !isTrue(p, v1.PodInitialized) {
			s.restarts, s.lastRestart = all.restarts, all.lastRestart
		}
		return true
	}
	return false
}

// addContainers counts the containers. The first one that does not run gives
// the status.
func (s *summary) addContainers(p *v1.Pod) {
	var stopped string
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
		case st.Ready && st.State.Running != nil:
			running = true
			s.ready++
		}
		if stopped == "" {
			stopped = why
		}
	}
	if stopped != "" {
		s.status = stopped
	}
	// Some ended well and others run: the pod is not completed.
	if s.status == "Completed" && running {
		s.status = "NotReady"
		if isTrue(p, v1.PodReady) {
			s.status = "Running"
		}
	}
}

func (s *summary) addRestarts(st *v1.ContainerStatus) {
	s.restarts += int(st.RestartCount)
	if t := st.LastTerminationState.Terminated; t != nil && t.FinishedAt.After(s.lastRestart) {
		s.lastRestart = t.FinishedAt.Time
	}
}

// ended is how a container ended: its reason, else its signal or exit code.
func ended(t *v1.ContainerStateTerminated) string {
	switch {
	case t.Reason != "":
		return t.Reason
	case t.Signal != 0:
		return fmt.Sprintf("Signal:%d", t.Signal)
	}
	return fmt.Sprintf("ExitCode:%d", t.ExitCode)
}

// isHeld reports whether policy lets nothing of p run yet.
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

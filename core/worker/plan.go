package worker

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// Actions are the steps that bring a pod to its desired state.
type Actions struct {
	// KillPod: all containers and sandboxes have to be stopped first, for the reason Why.
	KillPod bool
	Why     string
	// CreateSandbox: a new sandbox is needed; Attempt is its number.
	CreateSandbox bool
	Attempt       uint32
	// Sandbox is the sandbox that is kept, nil for none.
	Sandbox *status.ObservedSandbox
	// Stop are the containers to stop one by one, before any is started.
	Stop []StopContainer
	// Start are the names of the containers to start, in this order: ephemeral ones, init
	// containers, regular ones.
	Start []string
	// Reset are the instances that are stopped and removed, one after the other, before all
	// containers of the pod restart in the same sandbox. Triggers are the instances in Reset that
	// caused this restart. If Reset is not empty, there are no other actions.
	Reset    []ResetContainer
	Triggers []*status.ObservedContainer
}

// StopContainer is a container to stop and the reason.
type StopContainer struct {
	ID      string
	Name    string
	Message string
	// annotations are those of the container. If the pod's spec no longer contains the container,
	// its definition is restored from them.
	annotations map[string]string
	// grace, if not 0, is the container's own grace period, used instead of the pod's.
	grace time.Duration
	// after are the indexes of the containers that have to stop before this one, as long as the
	// grace period allows.
	after []int
}

// Empty reports whether nothing has to be done for the pod.
func (a *Actions) Empty() bool {
	return !a.KillPod && !a.CreateSandbox && len(a.Stop) == 0 && len(a.Start) == 0 && len(a.Reset) == 0
}

// EndsPod reports whether the pod is to be stopped and nothing of it will start again.
func (a *Actions) EndsPod() bool {
	return a.KillPod && !a.CreateSandbox && len(a.Start) == 0
}

// Plan compares what the runtime shows of a pod with its spec. st is the pod's current status. hash
// returns the definition hash of a container. failed returns which probe requires a restart of the
// container with this ID, empty for none. Plan does not modify its arguments.
func Plan(p *v1.Pod, observed *status.ObservedPod, st *v1.PodStatus, hash func(*v1.Container) string, failed func(id string) string) Actions {
	if triggers := status.RestartAllTriggers(p, observed); len(triggers) > 0 {
		return planReset(p, observed, triggers)
	}
	if why := status.SandboxFault(p, observed); why != "" {
		a := planSandbox(p, observed)
		a.Why = why
		return a
	}
	a := Actions{Sandbox: &observed.Sandboxes[0]}
	a.startEphemeral(p, observed)
	initialized, why := a.planInit(&initPlan{p, observed, st, hash, failed})
	if why != "" {
		return Actions{KillPod: true, Why: why}
	}
	if !initialized {
		a.stopUnnamed(p, observed)
		return a
	}
	kept, before := 0, len(a.Start)
	for i := range p.Spec.Containers {
		c := &p.Spec.Containers[i]
		newest := observed.Newest(c.Name)
		switch {
		case newest != nil && newest.State == status.StateRunning:
			switch why := failed(newest.ID); {
			case changed(c, newest, hash):
				a.stop(newest, "Container "+c.Name+" definition changed, will be restarted")
				a.Start = append(a.Start, c.Name)
			case why == "":
				kept++
			case status.RestartPolicy(p, c) != v1.RestartPolicyNever: // the restart rules apply once it has exited
				a.stopFailed(c, newest, why, "Container "+c.Name+" "+why+", will be restarted")
				a.Start = append(a.Start, c.Name)
			default:
				a.stopFailed(c, newest, why, "Container "+c.Name+" "+why)
				if len(c.RestartPolicyRules) > 0 {
					kept++ // its exit code decides whether it runs again
				}
			}
		case status.ShouldStart(p, c, newest):
			a.stopUnknown(newest)
			a.Start = append(a.Start, c.Name)
		}
	}
	if kept == 0 && len(a.Start) == before {
		return Actions{KillPod: true, Why: "nothing of the pod runs, and nothing is to start"}
	}
	a.stopUnnamed(p, observed)
	return a
}

// planSandbox plans for a pod that cannot run in the sandboxes it has.
func planSandbox(p *v1.Pod, observed *status.ObservedPod) Actions {
	a := Actions{KillPod: len(observed.Sandboxes) > 0 || len(observed.Containers) > 0}
	if len(observed.Sandboxes) > 0 {
		a.Attempt = observed.Sandboxes[0].Attempt + 1
	}
	if p.Spec.RestartPolicy == v1.RestartPolicyNever && a.Attempt > 0 && len(observed.Containers) > 0 {
		return Actions{KillPod: true} // the pod may not run again
	}
	created := false
	for i := range p.Spec.Containers {
		c := &p.Spec.Containers[i]
		newest := observed.Newest(c.Name)
		created = created || newest != nil
		if newest != nil && newest.State == status.StateExited && !status.RunsInNewSandbox(p, c, newest.ExitCode) {
			continue
		}
		a.Start = append(a.Start, c.Name)
	}
	if len(a.Start) == 0 && created {
		return Actions{KillPod: true}
	}
	if len(p.Spec.InitContainers) > 0 {
		a.Start = []string{p.Spec.InitContainers[0].Name}
	}
	a.CreateSandbox = true
	return a
}

// startEphemeral starts the ephemeral containers that have never run, in any state of the pod.
func (a *Actions) startEphemeral(p *v1.Pod, observed *status.ObservedPod) {
	for c, kind := range pod.Containers(p) {
		if kind == pod.EphemeralContainer && p.DeletionTimestamp == nil && observed.Newest(c.Name) == nil {
			a.Start = append(a.Start, c.Name)
		}
	}
}

// changed reports whether the definition of c differs from the one that the running instance was
// made from. An instance without a hash counts as unchanged.
func changed(c *v1.Container, running *status.ObservedContainer, hash func(*v1.Container) string) bool {
	return running.Hash != "" && running.Hash != hash(c)
}

// stopUnnamed stops running containers that are no longer in the spec: a pod that keeps its UID may
// lose a container without being replaced.
func (a *Actions) stopUnnamed(p *v1.Pod, observed *status.ObservedPod) {
	named := map[string]bool{}
	for c := range pod.Containers(p) {
		named[c.Name] = true
	}
	for i := range observed.Containers {
		c := &observed.Containers[i]
		if c.State == status.StateRunning && !named[c.Name] {
			a.stop(c, "Container "+c.Name+" is not in the pod's spec any more")
		}
	}
}

// stopUnknown stops an instance in an unknown state before the next one starts.
func (a *Actions) stopUnknown(newest *status.ObservedContainer) {
	if newest != nil && newest.State == status.StateUnknown {
		a.stop(newest, "Container "+newest.Name+" is in an unknown state, try killing it before restart")
	}
}

// stopFailed stops a container whose probe has failed, with the grace period of that probe. why is
// the failed probe.
func (a *Actions) stopFailed(c *v1.Container, newest *status.ObservedContainer, why, message string) {
	a.stop(newest, message)
	probe := c.LivenessProbe
	if why == status.FailedStartup {
		probe = c.StartupProbe
	}
	if probe != nil && probe.TerminationGracePeriodSeconds != nil {
		a.Stop[len(a.Stop)-1].grace = max(seconds(*probe.TerminationGracePeriodSeconds), time.Second)
	}
}

func (a *Actions) stop(c *status.ObservedContainer, message string) {
	a.Stop = append(a.Stop, StopContainer{ID: c.ID, Name: c.Name, Message: message, annotations: c.Annotations})
}

package worker

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// Actions are what a pod needs to be as it should.
type Actions struct {
	// KillPod: all containers and sandboxes are to be stopped first, for the reason Why.
	KillPod bool
	Why     string
	// CreateSandbox: a new sandbox is needed; Attempt is its number.
	CreateSandbox bool
	Attempt       uint32
	// Sandbox is the sandbox that stays, nil if none does.
	Sandbox *status.ObservedSandbox
	// Stop are containers to be stopped one by one, before any is started.
	Stop []StopContainer
	// Start are the names of containers, in the order in which they start: ephemeral ones, init containers, regular ones.
	Start []string
	// Reset are the instances that are stopped and removed, one after the other, before the pod starts anew in its sandbox,
	// and Triggers those of them for which that is done. Nothing else is to do then.
	Reset    []ResetContainer
	Triggers []*status.ObservedContainer
}

// StopContainer is a container to be stopped, and why.
type StopContainer struct {
	ID      string
	Name    string
	Message string
	// annotations are the container's, from which its definition is restored where the pod does not have it any more.
	annotations map[string]string
	// grace, if not 0, is the time that the container gets instead of the pod's.
	grace time.Duration
	// after are the indexes of those that have to be stopped before, as long as the grace period allows.
	after []int
}

// Empty reports whether the pod is as it should be.
func (a *Actions) Empty() bool {
	return !a.KillPod && !a.CreateSandbox && len(a.Stop) == 0 && len(a.Start) == 0 && len(a.Reset) == 0
}

// EndsPod reports whether the pod is to be stopped and nothing of it will start again.
func (a *Actions) EndsPod() bool {
	return a.KillPod && !a.CreateSandbox && len(a.Start) == 0
}

// Plan compares what the runtime shows of a pod with its spec. st is its status of now, hash the
// definition hash of a container, and failed says which probe of a container, by its ID, wants it
// restarted, empty for none. It changes nothing of what it is given.
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
			case status.RestartPolicy(p, c) != v1.RestartPolicyNever: // rules count once it has ended
				a.stopFailed(c, newest, why, "Container "+c.Name+" "+why+", will be restarted")
				a.Start = append(a.Start, c.Name)
			default:
				a.stopFailed(c, newest, why, "Container "+c.Name+" "+why)
				if len(c.RestartPolicyRules) > 0 {
					kept++ // how it ends decides whether it runs again
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
		return Actions{KillPod: true} // it had its one life
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

// startEphemeral starts the ephemeral containers that have never run, whatever else the pod is doing.
func (a *Actions) startEphemeral(p *v1.Pod, observed *status.ObservedPod) {
	for c, kind := range pod.Containers(p) {
		if kind == pod.EphemeralContainer && p.DeletionTimestamp == nil && observed.Newest(c.Name) == nil {
			a.Start = append(a.Start, c.Name)
		}
	}
}

// changed reports whether c is not what the running instance was made from.
// An instance that carries no hash is taken as it is.
func changed(c *v1.Container, running *status.ObservedContainer, hash func(*v1.Container) string) bool {
	return running.Hash != "" && running.Hash != hash(c)
}

// stopUnnamed stops the containers that run but are not in the spec any more:
// a pod with a UID of its own may lose one without being replaced.
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

// stopUnknown stops an instance of which the runtime does not know whether it runs, before the next one starts.
func (a *Actions) stopUnknown(newest *status.ObservedContainer) {
	if newest != nil && newest.State == status.StateUnknown {
		a.stop(newest, "Container "+newest.Name+" is in an unknown state, try killing it before restart")
	}
}

// stopFailed stops a container of which a probe has failed, with the grace period of that probe. why says which it is.
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

package worker

import (
	v1 "k8s.io/api/core/v1"

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
	// Start are indexes into spec.containers, in the order of the spec.
	Start []int
}

// StopContainer is a container to be stopped, and why.
type StopContainer struct {
	ID      string
	Name    string
	Message string
}

// Empty reports whether the pod is as it should be.
func (a *Actions) Empty() bool {
	return !a.KillPod && !a.CreateSandbox && len(a.Stop) == 0 && len(a.Start) == 0
}

// EndsPod reports whether the pod is to be stopped and nothing of it will start again.
func (a *Actions) EndsPod() bool {
	return a.KillPod && !a.CreateSandbox && len(a.Start) == 0
}

// Plan compares what the runtime shows of a pod with its spec. hash is the
// definition hash of a container. It changes nothing of what it is given.
func Plan(p *v1.Pod, observed *status.ObservedPod, hash func(*v1.Container) string) Actions {
	if why := status.SandboxFault(p, observed); why != "" {
		a := planSandbox(p, observed)
		a.Why = why
		return a
	}
	a := Actions{Sandbox: &observed.Sandboxes[0]}
	kept := 0
	for i := range p.Spec.Containers {
		c := &p.Spec.Containers[i]
		newest := observed.Newest(c.Name)
		switch {
		case newest != nil && newest.State == status.StateRunning:
			if !changed(c, newest, hash) {
				kept++
				continue
			}
			a.stop(newest, "Container "+c.Name+" definition changed, will be restarted")
			a.Start = append(a.Start, i)
		case status.ShouldStart(p, c, newest):
			if newest != nil && newest.State == status.StateUnknown {
				a.stop(newest, "Container "+c.Name+" is in an unknown state, try killing it before restart")
			}
			a.Start = append(a.Start, i)
		}
	}
	if kept == 0 && len(a.Start) == 0 {
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
		newest := observed.Newest(p.Spec.Containers[i].Name)
		created = created || newest != nil
		if p.Spec.RestartPolicy == v1.RestartPolicyOnFailure && newest != nil &&
			newest.State == status.StateExited && newest.ExitCode == 0 {
			continue
		}
		a.Start = append(a.Start, i)
	}
	if len(a.Start) == 0 && created {
		return Actions{KillPod: true}
	}
	a.CreateSandbox = true
	return a
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
	for i := range p.Spec.Containers {
		named[p.Spec.Containers[i].Name] = true
	}
	for i := range observed.Containers {
		c := &observed.Containers[i]
		if c.State == status.StateRunning && !named[c.Name] {
			a.stop(c, "Container "+c.Name+" is not in the pod's spec any more")
		}
	}
}

func (a *Actions) stop(c *status.ObservedContainer, message string) {
	a.Stop = append(a.Stop, StopContainer{ID: c.ID, Name: c.Name, Message: message})
}

package worker

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// planInit plans for the init containers of a pod and its sidecars. It reports whether the regular containers may run, and
// why the pod has to end where an init container has failed for good.
//
// The last init container that was made in the pod's sandbox tells how far the pod is: those before it have done their work,
// whatever is left of them. Only sidecars before it are looked at, and started again where they have ended.
func (a *Actions) planInit(of *initPlan) (initialized bool, why string) {
	p, observed := of.pod, of.observed
	all := p.Spec.InitContainers
	if len(all) == 0 {
		return true, ""
	}
	initialized = a.regularMade(p, observed)
	var start []string
	for i, reached := len(all)-1, initialized; i >= -1; i-- {
		if i < 0 {
			if !reached {
				start = append(start, all[0].Name)
			}
			break
		}
		c, newest := &all[i], a.newest(observed, all[i].Name)
		sidecar := pod.IsSidecar(c)
		switch {
		case newest == nil && (!sidecar || !reached), newest != nil && reached && !sidecar:
			continue
		case newest == nil:
			start = append(start, c.Name)
			continue
		}
		step := a.planOne(of, c, newest)
		switch {
		case step == initFailed:
			return false, "init container " + c.Name + " has failed, and does not start again"
		case step == initAgain:
			start = append(start, c.Name)
		case step == initDone && !reached && i == len(all)-1:
			initialized = true
		case step == initDone && !reached:
			start = append(start, all[i+1].Name)
		}
		reached = true
	}
	if p.DeletionTimestamp == nil {
		slices.Reverse(start)
		a.Start = append(a.Start, start...)
	}
	return initialized, ""
}

// initPlan is what the plan for init containers is made of; see Plan.
type initPlan struct {
	pod      *v1.Pod
	observed *status.ObservedPod
	status   *v1.PodStatus
	hash     func(*v1.Container) string
	failed   func(id string) string
}

// hasStarted reports whether the status shows a sidecar as started.
func (of *initPlan) hasStarted(c *v1.Container) bool {
	st := pod.ContainerStatus(of.status, c.Name)
	return st != nil && st.Started != nil && *st.Started
}

// initStep is what the newest instance of an init container asks for.
type initStep int

const (
	// initWaits: it is at work.
	initWaits initStep = iota
	// initDone: the next one may start.
	initDone
	// initAgain: it is to start again.
	initAgain
	// initFailed: it has failed and may not start again.
	initFailed
)

func (a *Actions) planOne(of *initPlan, c *v1.Container, newest *status.ObservedContainer) initStep {
	sidecar := pod.IsSidecar(c)
	failed := newest.State == status.StateUnknown || newest.ExitCode != 0 || newest.Reason == reasonOOMKilled
	switch {
	case newest.State == status.StateCreated:
		return initAgain
	case newest.State == status.StateRunning && !sidecar:
		return initWaits
	case newest.State == status.StateRunning && changed(c, newest, of.hash):
		a.stop(newest, "Init container "+c.Name+" definition changed, will be restarted")
		return initAgain
	case newest.State == status.StateRunning && of.failed(newest.ID) != "":
		why := of.failed(newest.ID)
		a.stopFailed(c, newest, why, "Init container "+c.Name+" "+why+", will be restarted")
		return initAgain
	case newest.State == status.StateRunning && c.StartupProbe != nil && !of.hasStarted(c):
		return initWaits
	case newest.State == status.StateRunning:
		return initDone
	case !sidecar && !failed:
		return initDone
	case !sidecar && !status.Restartable(of.pod, c, max(newest.ExitCode, 1)):
		return initFailed
	}
	a.stopUnknown(newest)
	return initAgain
}

// reasonOOMKilled is what the runtime says of a container that was killed for its use of memory: its exit code may be 0.
const reasonOOMKilled = "OOMKilled"

// regularMade reports whether a regular container of the pod is in its sandbox and has not ended: its init containers have
// done their work. One that has ended says nothing, after a restart of the node all have.
func (a *Actions) regularMade(p *v1.Pod, observed *status.ObservedPod) bool {
	for i := range p.Spec.Containers {
		newest := a.newest(observed, p.Spec.Containers[i].Name)
		if newest != nil && (newest.State == status.StateCreated || newest.State == status.StateRunning) {
			return true
		}
	}
	return false
}

// newest returns the newest instance of a container in the sandbox that stays, nil for none.
func (a *Actions) newest(observed *status.ObservedPod, name string) *status.ObservedContainer {
	if c := observed.Newest(name); c != nil && c.SandboxID == a.Sandbox.ID {
		return c
	}
	return nil
}

package status

import (
	"net/netip"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// Input is everything from which the status of a pod is computed. Generate does not modify it.
type Input struct {
	Pod *v1.Pod
	// Observed is the newest inspection. The zero value means that the runtime does not have the
	// pod.
	Observed ObservedPod
	// Previous is the status in the store. If it has no phase, it counts as missing, and the status
	// in Pod is used instead.
	Previous v1.PodStatus
	// Reasons are, by container name, why the last try to start the container failed.
	Reasons map[string]Reason
	// Probes has the probe results; nil if there are no probes.
	Probes Probes
	// Terminating is true once the pod is being terminated and starts nothing again. A deletion
	// timestamp has the same effect.
	Terminating bool
	// Terminal is true once its containers were stopped for good. It implies
	// Terminating.
	Terminal bool
	// Failure is why the pod failed, whatever its containers show, nil if it has not. Only a
	// terminal phase in the API server takes precedence.
	Failure *Reason
	// Now is used as the start time if none was reported, and as the transition time of conditions,
	// unless the runtime shows that the pod ran before anything was reported about it.
	Now time.Time
	// HostIPs are the node's addresses, the primary one first, at most one per family. It is empty
	// without an API client, as with a kubelet.
	HostIPs []string
	// RecursiveReadOnly is true if the pod's runtime can make mounts read-only recursively. It is
	// used only if a container asks for that.
	RecursiveReadOnly bool
	// RuntimeName is the scheme of container IDs, such as "containerd".
	RuntimeName string

	// stage is set by Generate.
	stage restartStage
}

// Generate returns the status of a pod, computed from what the runtime shows.
func Generate(in Input) v1.PodStatus {
	if in.Previous.Phase == "" {
		in.Previous = in.Pod.Status
	}
	in.stage = in.restartStage()
	st := v1.PodStatus{
		ObservedGeneration: in.Pod.Generation,
		QOSClass:           pod.QOS(in.Pod),
		StartTime:          in.Previous.StartTime,
	}
	setContainers(&in, &st)
	before := in.runtimeTimes()
	if st.StartTime.IsZero() {
		st.StartTime = new(metav1.NewTime(in.Now))
	} else if before != (runtimeTimes{}) {
		before.created = st.StartTime.Time
	}
	setPhase(&in, &st)
	setIPs(&in, &st)
	st.Conditions = conditions(&in, &st, &before)
	return st
}

// setPhase computes the phase and reconciles it with earlier ones: a terminal phase never changes,
// and a terminal phase in the API server takes precedence. Reason and message are kept while the
// phase does not change.
func setPhase(in *Input, st *v1.PodStatus) {
	st.Phase = phaseOf(in.Pod, st, in.initialized(), in.Terminal, in.stage.removing)
	if !pod.IsTerminal(st.Phase) && pod.IsTerminal(in.Previous.Phase) {
		st.Phase = in.Previous.Phase
	}
	if pod.IsTerminal(in.Pod.Status.Phase) {
		st.Phase = in.Pod.Status.Phase
	} else if in.Failure != nil {
		st.Phase, st.Reason, st.Message = v1.PodFailed, in.Failure.Reason, in.Failure.Message
		return
	}
	for _, from := range []*v1.PodStatus{&in.Previous, &in.Pod.Status} {
		if from.Phase == st.Phase && st.Reason == "" && st.Message == "" {
			st.Reason, st.Message = from.Reason, from.Message
		}
	}
}

// ending reports whether nothing of the pod will start again.
func (in *Input) ending() bool {
	return in.Terminating || in.Terminal || in.Pod.DeletionTimestamp != nil
}

// initialized reports whether a regular container was created in the sandbox that the pod runs in:
// then the init containers have completed, even if their instances are gone.
func (in *Input) initialized() bool {
	if len(in.Observed.Sandboxes) == 0 || !in.Observed.Sandboxes[0].Ready {
		return false
	}
	for i := range in.Pod.Spec.Containers {
		o := in.Observed.Newest(in.Pod.Spec.Containers[i].Name)
		if o != nil && o.SandboxID == in.Observed.Sandboxes[0].ID {
			return true
		}
	}
	return false
}

// setIPs sets the addresses of the pod and of the node. A pod on the node's network has the node's
// addresses. Addresses that it has already never change, but one of a second family may be added
// later.
func setIPs(in *Input, st *v1.PodStatus) {
	ips, primary := in.Observed.IPs, in.HostIPs
	if in.Pod.Spec.HostNetwork {
		ips = nil
		for _, ip := range in.Previous.PodIPs {
			ips = append(ips, ip.IP)
		}
		ips = slices.Concat(ips, in.HostIPs)
		primary = ips
	}
	ips = onePerFamily(ips, len(primary) > 0 && isIPv6(primary[0]))
	for i, ip := range ips {
		if i == 0 {
			st.PodIP = ip
		}
		st.PodIPs = append(st.PodIPs, v1.PodIP{IP: ip})
	}
	for i, ip := range in.HostIPs {
		if i == 0 {
			st.HostIP = ip
		}
		st.HostIPs = append(st.HostIPs, v1.HostIP{IP: ip})
	}
}

// onePerFamily returns the first address of each family, the preferred family first.
func onePerFamily(ips []string, prefer6 bool) []string {
	var first, second string
	for _, ip := range ips {
		switch {
		case isIPv6(ip) == prefer6 && first == "":
			first = ip
		case isIPv6(ip) != prefer6 && second == "":
			second = ip
		}
	}
	return slices.DeleteFunc([]string{first, second}, func(ip string) bool { return ip == "" })
}

func isIPv6(ip string) bool {
	addr, err := netip.ParseAddr(ip)
	return err == nil && addr.Is6()
}

// runtimeTimes are the times of a pod in the runtime, used for a pod without a reported status, as
// after a restart of the agent. A time is zero if the runtime shows none. They are set only if
// something of the pod runs: otherwise they may belong to an earlier pod with the UID.
type runtimeTimes struct{ created, sandbox, running time.Time }

// runtimeTimes returns the times of the pod as the runtime shows them.
func (in *Input) runtimeTimes() (p runtimeTimes) {
	if !in.Observed.Active() {
		return p
	}
	for i := range in.Observed.Sandboxes {
		s := &in.Observed.Sandboxes[i]
		if at := s.CreatedAt; in.isPast(at) && (p.created.IsZero() || at.Before(p.created)) {
			p.created = at
		}
		if s.Ready && in.isPast(s.CreatedAt) && s.CreatedAt.After(p.sandbox) {
			p.sandbox = s.CreatedAt
		}
	}
	for i := range in.Observed.Containers {
		c := &in.Observed.Containers[i]
		if c.State == StateRunning && in.isPast(c.StartedAt) && c.StartedAt.After(p.running) {
			p.running = c.StartedAt
		}
	}
	return p
}

// isPast reports whether a time is known and not in the future, where it may be after the clock was
// set back.
func (in *Input) isPast(at time.Time) bool { return !at.IsZero() && !at.After(in.Now) }

// transitionTime returns when a condition without a reported status changed to its status, or now
// if that is not known.
func (p *runtimeTimes) transitionTime(kind v1.PodConditionType, status v1.ConditionStatus, now time.Time) time.Time {
	at := now
	switch {
	case kind == v1.PodScheduled, kind == v1.PodInitialized:
		at = p.created
	case status != v1.ConditionTrue:
	case kind == v1.PodReadyToStartContainers:
		at = p.sandbox
	case kind == v1.PodReady, kind == v1.ContainersReady:
		at = p.running
	}
	if at.IsZero() {
		return now
	}
	return at
}

// Finish returns the final status of a pod, once nothing of it is left on the node. Containers
// whose exit was never observed count as killed. Exceptions are containers that were not due yet:
// regular containers of a pod that was not initialised, and init containers after the last one that
// was tried. A pod that is not static and has no terminal phase gets the phase Failed.
func Finish(p *v1.Pod, st v1.PodStatus) v1.PodStatus {
	st = *st.DeepCopy()
	tried := 0
	for i := range st.InitContainerStatuses {
		if i == 0 || hasBeenTried(&st.InitContainerStatuses[i]) {
			tried = i + 1
		}
	}
	killUnseen(st.InitContainerStatuses[:tried])
	initialized := api.Condition(&st, v1.PodInitialized)
	if len(p.Spec.InitContainers) == 0 || (initialized != nil && initialized.Status == v1.ConditionTrue) {
		killUnseen(st.ContainerStatuses)
	}
	if st.Phase != v1.PodSucceeded && st.Phase != v1.PodFailed && !pod.IsStatic(p) {
		st.Phase = v1.PodFailed
	}
	return st
}

func killUnseen(list []v1.ContainerStatus) {
	for i := range list {
		if c := &list[i]; c.State.Terminated == nil {
			c.State = unknownTermination()
			c.Ready = false
			c.Started = new(false)
		}
	}
}

// hasBeenTried reports whether a container has run, or could not be started.
func hasBeenTried(c *v1.ContainerStatus) bool {
	return c.State.Waiting == nil || c.LastTerminationState.Terminated != nil
}

package describe

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// containers writes init containers, containers and ephemeral containers.
func (w *writer) containers(p *v1.Pod) {
	var initial, regular, ephemeral []*v1.Container
	for c, kind := range pod.Containers(p) {
		switch kind {
		case pod.InitContainer, pod.Sidecar:
			initial = append(initial, c)
		case pod.RegularContainer:
			regular = append(regular, c)
		case pod.EphemeralContainer:
			ephemeral = append(ephemeral, c)
		}
	}
	if len(initial) > 0 {
		w.containerList(p, "Init Containers:", initial, p.Status.InitContainerStatuses)
	}
	if len(regular) == 0 {
		w.row(0, "Containers: "+none)
	} else {
		w.containerList(p, "Containers:", regular, p.Status.ContainerStatuses)
	}
	if len(ephemeral) > 0 {
		w.containerList(p, "Ephemeral Containers:", ephemeral, p.Status.EphemeralContainerStatuses)
	}
}

func (w *writer) containerList(p *v1.Pod, title string, list []*v1.Container, statuses []v1.ContainerStatus) {
	w.row(0, title)
	for _, c := range list {
		var st *v1.ContainerStatus
		if i := slices.IndexFunc(statuses, func(s v1.ContainerStatus) bool { return s.Name == c.Name }); i >= 0 {
			st = &statuses[i]
		}
		w.container(c, st)
		w.environment(p, c)
		w.mounts(c)
	}
}

// container writes a container, its state if it has a status, its resources and probes.
func (w *writer) container(c *v1.Container, st *v1.ContainerStatus) {
	w.row(1, c.Name+":")
	if st != nil {
		w.row(2, "Container ID:", st.ContainerID)
	}
	w.row(2, "Image:", c.Image)
	if st != nil {
		w.row(2, "Image ID:", st.ImageID)
	}
	w.ports("Port", c.Ports, func(p *v1.ContainerPort) int32 { return p.ContainerPort })
	w.ports("Host Port", c.Ports, func(p *v1.ContainerPort) int32 { return p.HostPort })
	if s := c.SecurityContext; s != nil {
		w.seccomp(2, 3, s.SeccompProfile)
	}
	w.words("Command:", c.Command)
	w.words("Args:", c.Args)
	if st != nil {
		w.state("State:", &st.State)
		if st.LastTerminationState.Terminated != nil {
			w.state("Last State:", &st.LastTerminationState)
		}
		ready := "False"
		if st.Ready {
			ready = "True"
		}
		w.row(2, "Ready:", ready)
		w.row(2, "Restart Count:", st.RestartCount)
	}
	w.resources(2, &c.Resources)
	w.probe("Liveness:", c.LivenessProbe)
	w.probe("Readiness:", c.ReadinessProbe)
	w.probe("Startup:", c.StartupProbe)
}

// ports writes the ports of a container, or the host's ports that are mapped to them.
func (w *writer) ports(label string, ports []v1.ContainerPort, number func(*v1.ContainerPort) int32) {
	var all []string
	for i := range ports {
		text := fmt.Sprintf("%d/%s", number(&ports[i]), ports[i].Protocol)
		if name := ports[i].Name; name != "" {
			text += " (" + name + ")"
		}
		all = append(all, text)
	}
	if len(all) > 1 {
		label += "s"
	}
	w.row(2, label+":", cmp.Or(strings.Join(all, ", "), none))
}

// words writes the words of a command line below each other.
func (w *writer) words(label string, words []string) {
	if len(words) > 0 {
		w.row(2, label)
	}
	for _, word := range words {
		for line := range strings.SplitSeq(word, "\n") {
			w.row(3, line)
		}
	}
}

func (w *writer) state(label string, state *v1.ContainerState) {
	switch {
	case state.Running != nil:
		w.row(2, label, "Running")
		w.row(3, "Started:", state.Running.StartedAt.Format(time.RFC1123Z))
	case state.Terminated != nil && state.Waiting == nil:
		t := state.Terminated
		w.row(2, label, "Terminated")
		w.rowIf(3, "Reason:", t.Reason)
		w.rowIf(3, "Message:", t.Message)
		w.row(3, "Exit Code:", t.ExitCode)
		if t.Signal > 0 {
			w.row(3, "Signal:", t.Signal)
		}
		w.row(3, "Started:", t.StartedAt.Format(time.RFC1123Z))
		w.row(3, "Finished:", t.FinishedAt.Format(time.RFC1123Z))
	default:
		w.row(2, label, "Waiting")
		if state.Waiting != nil {
			w.rowIf(3, "Reason:", state.Waiting.Reason)
		}
	}
}

func (w *writer) resources(level int, r *v1.ResourceRequirements) {
	for _, part := range []struct {
		label string
		list  v1.ResourceList
	}{{"Limits:", r.Limits}, {"Requests:", r.Requests}} {
		if len(part.list) > 0 {
			w.row(level, part.label)
		}
		for _, name := range slices.Sorted(maps.Keys(part.list)) {
			quantity := part.list[name]
			w.row(level+1, name+":", quantity.String())
		}
	}
}

func (w *writer) probe(label string, probe *v1.Probe) {
	if probe == nil {
		return
	}
	w.row(2, label, fmt.Sprintf("%s delay=%ds timeout=%ds period=%ds #success=%d #failure=%d", probeHandler(&probe.ProbeHandler),
		probe.InitialDelaySeconds, probe.TimeoutSeconds, probe.PeriodSeconds, probe.SuccessThreshold, probe.FailureThreshold))
}

// probeHandler describes the action of a probe.
func probeHandler(h *v1.ProbeHandler) string {
	switch {
	case h.Exec != nil:
		return fmt.Sprintf("exec %v", h.Exec.Command)
	case h.HTTPGet != nil:
		to := url.URL{Scheme: strings.ToLower(string(h.HTTPGet.Scheme)), Host: h.HTTPGet.Host, Path: h.HTTPGet.Path}
		if port := h.HTTPGet.Port.String(); port != "" {
			to.Host = net.JoinHostPort(h.HTTPGet.Host, port)
		}
		return "http-get " + to.String()
	case h.TCPSocket != nil:
		return "tcp-socket " + h.TCPSocket.Host + ":" + h.TCPSocket.Port.String()
	case h.GRPC != nil:
		return fmt.Sprintf("grpc <pod>:%d %s", h.GRPC.Port, or(h.GRPC.Service, ""))
	}
	return "unknown"
}

// mounts writes where volumes are mounted, and the devices of a container.
func (w *writer) mounts(c *v1.Container) {
	if len(c.VolumeMounts) == 0 {
		w.row(2, "Mounts:", none)
	} else {
		w.row(2, "Mounts:")
	}
	for _, m := range slices.SortedStableFunc(slices.Values(c.VolumeMounts), func(a, b v1.VolumeMount) int { return cmp.Compare(a.MountPath, b.MountPath) }) {
		flags := "rw"
		if m.ReadOnly {
			flags = "ro"
		}
		if m.SubPath != "" {
			flags += fmt.Sprintf(",path=%q", m.SubPath)
		}
		w.row(3, fmt.Sprintf("%s from %s (%s)", m.MountPath, m.Name, flags))
	}
	if len(c.VolumeDevices) > 0 {
		w.row(2, "Devices:")
	}
	for _, d := range slices.SortedStableFunc(slices.Values(c.VolumeDevices), func(a, b v1.VolumeDevice) int { return cmp.Compare(a.DevicePath, b.DevicePath) }) {
		w.row(3, d.DevicePath+" from "+d.Name)
	}
}

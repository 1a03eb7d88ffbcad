package admission

import (
	"cmp"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// hostPort is a port of the node.
type hostPort struct {
	protocol v1.Protocol
	ip       string
	number   int32
}

// everyIP is the address that means all addresses of a node.
const everyIP = "0.0.0.0"

// meets reports whether the two ports conflict.
func (h hostPort) meets(other hostPort) bool {
	return h.protocol == other.protocol && h.number == other.number &&
		(h.ip == other.ip || h.ip == everyIP || other.ip == everyIP)
}

// hostPorts refuses a pod that needs ports of the node that other pods have.
func hostPorts(p *v1.Pod, _ *v1.Node, users []*v1.Pod) *fault {
	wants := hostPortsOf(p)
	if len(wants) == 0 {
		return nil
	}
	for _, user := range users {
		for _, has := range hostPortsOf(user) {
			for _, want := range wants {
				if want.meets(has) {
					return predicate("NodePorts", "node(s) didn't have free ports for the requested pod ports")
				}
			}
		}
	}
	return nil
}

// hostPortsOf returns the ports of the node that a pod uses for as long as it runs: those of its
// containers and sidecars.
func hostPortsOf(p *v1.Pod) []hostPort {
	var ports []hostPort
	for c, kind := range pod.Containers(p) {
		if kind != pod.RegularContainer && kind != pod.Sidecar {
			continue
		}
		for i := range c.Ports {
			if port := &c.Ports[i]; port.HostPort > 0 {
				ports = append(ports, hostPort{cmp.Or(port.Protocol, v1.ProtocolTCP), cmp.Or(port.HostIP, everyIP), port.HostPort})
			}
		}
	}
	return ports
}

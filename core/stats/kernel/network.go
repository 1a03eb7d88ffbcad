package kernel

import (
	"slices"
	"strconv"
	"strings"
)

// Interface has the counters of a network interface.
type Interface struct {
	Name           string
	Received, Sent Traffic
}

// Traffic counts what passed an interface in one direction.
type Traffic struct{ Bytes, Packets, Errors, Dropped uint64 }

const loopback = "lo"

// ignored begin the names of interfaces that are left out, as by cAdvisor: loopback interfaces, and the
// machine's ends of the interfaces of pods.
var ignored = []string{loopback, "veth", "docker", "nerdctl"}

func isIgnored(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(ignored, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// Interfaces returns the interfaces in the network namespace of a process, without those that are
// ignored.
func (k *Kernel) Interfaces(pid int) ([]Interface, error) {
	content, err := text(k.proc(strconv.Itoa(pid) + "/net/dev"))
	if err != nil {
		return nil, err
	}
	return parseInterfaces(content), nil
}

// parseInterfaces parses /proc/net/dev, proc_pid_net(5).
func parseInterfaces(text string) (all []Interface) {
	for line := range strings.Lines(text) {
		name, rest, ok := strings.Cut(line, ":")
		name = strings.TrimSpace(name)
		fields := strings.Fields(rest)
		if !ok || len(fields) < 16 || isIgnored(name) {
			continue
		}
		var n [16]uint64
		bad := false
		for i := range n {
			var err error
			if n[i], err = strconv.ParseUint(fields[i], 10, 64); err != nil {
				bad = true
			}
		}
		if bad {
			continue
		}
		all = append(all, Interface{
			Name: name, Received: Traffic{Bytes: n[0], Packets: n[1], Errors: n[2], Dropped: n[3]},
			Sent: Traffic{Bytes: n[8], Packets: n[9], Errors: n[10], Dropped: n[11]},
		})
	}
	return all
}

// DefaultInterface returns the interface of the default route of a process's network namespace,
// empty if there is none.
func (k *Kernel) DefaultInterface(pid int) string {
	content, err := text(k.proc(strconv.Itoa(pid) + "/net/route"))
	if err == nil {
		for _, fields := range list(content) {
			if len(fields) > 7 && fields[1] == zeroAddress && fields[7] == zeroAddress {
				return fields[0]
			}
		}
	}
	content, err = text(k.proc(strconv.Itoa(pid) + "/net/ipv6_route"))
	if err != nil {
		return ""
	}
	for _, fields := range list(content) {
		if len(fields) > 9 && strings.Trim(fields[0], "0") == "" && fields[1] == "00" && fields[9] != loopback {
			return fields[9]
		}
	}
	return ""
}

// zeroAddress is the address 0.0.0.0 in /proc/net/route, and the mask of the default route.
const zeroAddress = "00000000"

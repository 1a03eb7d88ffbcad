package status

import (
	"net/netip"
	"slices"

	v1 "k8s.io/api/core/v1"
)

// setIPs sets the addresses of the pod and of the node. A pod on the node's
// network has the node's; those it has never change, but a second family may
// come later.
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

// onePerFamily keeps the first address of each family, the preferred family
// first.
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

package main

import "github.com/wardlet/wardlet/plugins/sdk"

var sysctlNames = sdk.Object("spec.securityContext.sysctls[*].name")

func sysctls(r *report) {
	for name := range sysctlNames.AllStrings() {
		if r.profile.minor < safeSince(name) && r.part("sysctl") {
			r.set(name)
		}
	}
}

// unsafe is what safeSince returns for a sysctl that is not safe: a version after the
// newest.
const unsafe = newest + 1

// safeSince returns the first version in which pods may set a sysctl.
func safeSince(name string) int {
	switch name {
	case "kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies",
		"net.ipv4.ping_group_range", "net.ipv4.ip_unprivileged_port_start":
		return 0
	case "net.ipv4.ip_local_reserved_ports":
		return 27
	case "net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes":
		return 29
	case "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem":
		return 32
	}
	return unsafe
}

package podsecurity

import v1 "k8s.io/api/core/v1"

func seccompProfile(pick chooser) *v1.SeccompProfile {
	return maybe(pick, v1.SeccompProfile{}, v1.SeccompProfile{Type: "RuntimeDefault"}, v1.SeccompProfile{Type: "Localhost"}, v1.SeccompProfile{Type: "Unconfined"},
		v1.SeccompProfile{Type: "runtime/default"})
}

func appArmorProfile(pick chooser) *v1.AppArmorProfile {
	return maybe(pick, v1.AppArmorProfile{}, v1.AppArmorProfile{Type: "RuntimeDefault"}, v1.AppArmorProfile{Type: "Localhost"}, v1.AppArmorProfile{Type: "Unconfined"})
}

func seLinuxOptions(pick chooser) *v1.SELinuxOptions {
	return maybe(pick, v1.SELinuxOptions{
		Type: one(pick, "", "container_t", "container_init_t", "container_kvm_t", "container_engine_t", "spc_t", "container_t "),
		User: one(pick, "", "", "u"), Role: one(pick, "", "", "r"), Level: one(pick, "", "s0"),
	})
}

func windowsOptions(pick chooser) *v1.WindowsSecurityContextOptions {
	return maybe(pick, v1.WindowsSecurityContextOptions{HostProcess: maybe(pick, true, false)})
}

// mutateContext changes the security context of a container.
func mutateContext(s *v1.SecurityContext, pick chooser) {
	switch pick(10) {
	case 0:
		s.Privileged = maybe(pick, true, false)
	case 1:
		s.AllowPrivilegeEscalation = maybe(pick, true, false)
	case 2:
		s.RunAsNonRoot = maybe(pick, true, false)
	case 3:
		s.RunAsUser = maybe(pick, int64(0), 1, -1)
	case 4:
		s.ProcMount = maybe(pick, v1.ProcMountType("Default"), "Unmasked", "", "default")
	case 5:
		s.SeccompProfile = seccompProfile(pick)
	case 6:
		s.AppArmorProfile = appArmorProfile(pick)
	case 7:
		s.SELinuxOptions = seLinuxOptions(pick)
	case 8:
		s.WindowsOptions = windowsOptions(pick)
	default:
		if s.Capabilities == nil {
			s.Capabilities = &v1.Capabilities{}
		}
		c := one(pick, v1.Capability("ALL"), "NET_BIND_SERVICE", "CHOWN", "NET_RAW", "SYS_CHROOT", "all", "")
		switch pick(5) {
		case 0:
			s.Capabilities.Add = append(s.Capabilities.Add, c)
		case 1:
			s.Capabilities.Drop = append(s.Capabilities.Drop, c)
		case 2:
			s.Capabilities.Add = nil
		case 3:
			s.Capabilities.Drop = nil
		default:
			s.Capabilities = nil
		}
	}
}

// mutatePodContext changes the security context of the pod.
func mutatePodContext(spec *v1.PodSpec, pick chooser) {
	if spec.SecurityContext == nil {
		spec.SecurityContext = &v1.PodSecurityContext{}
	}
	s := spec.SecurityContext
	switch pick(8) {
	case 0:
		s.RunAsNonRoot = maybe(pick, true, false)
	case 1:
		s.RunAsUser = maybe(pick, int64(0), 1)
	case 2:
		s.SeccompProfile = seccompProfile(pick)
	case 3:
		s.AppArmorProfile = appArmorProfile(pick)
	case 4:
		s.SELinuxOptions = seLinuxOptions(pick)
	case 5:
		s.WindowsOptions = windowsOptions(pick)
	case 6:
		s.Sysctls = append(s.Sysctls, v1.Sysctl{Name: one(pick,
			"kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range", "net.ipv4.ip_unprivileged_port_start",
			"net.ipv4.ip_local_reserved_ports", "net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl",
			"net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net/ipv4/tcp_wmem", "net.core.somaxconn", "")})
	default:
		spec.SecurityContext = nil
	}
}

// mutatePod changes a field of the pod outside its containers.
func mutatePod(p *v1.Pod, pick chooser) {
	s := &p.Spec
	switch pick(6) {
	case 0:
		s.HostNetwork = pick(2) == 0
	case 1:
		s.HostPID = pick(2) == 0
	case 2:
		s.HostIPC = pick(2) == 0
	case 3:
		s.HostUsers = maybe(pick, true, false)
	case 4:
		s.OS = maybe(pick, v1.PodOS{}, v1.PodOS{Name: v1.Linux}, v1.PodOS{Name: v1.Windows}, v1.PodOS{Name: "Windows"})
	default:
		key := one(pick, "seccomp.security.alpha.kubernetes.io/pod", "container.seccomp.security.alpha.kubernetes.io/", "container.apparmor.security.beta.kubernetes.io/", "a/")
		if p.Annotations == nil {
			p.Annotations = map[string]string{}
		}
		p.Annotations[key+one(pick, "", "a", "container1", "initcontainer1", "other")] = one(pick,
			"", "runtime/default", "docker/default", "localhost/a", "localhost/", "localhost", "unconfined", "Unconfined")
	}
}

package criconfig

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
)

func TestSandboxConfig(t *testing.T) {
	t.Parallel()
	run := fullRun(fullPod()).Sandbox
	config, notices, err := plainBuilder().Sandbox(&run)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "sandbox-pod-network.golden.json", asJSON(t, config))
	if len(notices) > 0 { // ClusterFirst is the default and causes no notice
		t.Errorf("notices %v, want none", notices)
	}

	p := fullPod()
	p.Spec.HostNetwork, p.Spec.HostPID, p.Spec.HostIPC = true, true, true
	run.Pod = p
	if config, _, err = plainBuilder().Sandbox(&run); err != nil {
		t.Fatal(err)
	}
	golden(t, "sandbox-node-network.golden.json", asJSON(t, config))
}

func TestSandboxConfigRefusesAnUnknownProtocol(t *testing.T) {
	t.Parallel()
	p := newPod("web")
	p.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: 80, Protocol: "HTTP"}}
	run := sandboxRun(p)
	_, _, err := plainBuilder().Sandbox(&run)
	expectError(t, err, `container "app": port 80: unknown protocol "HTTP"`)
}

func TestASandboxHasThePodsSysctls(t *testing.T) {
	t.Parallel()
	p := newPod("web")
	p.Spec.SecurityContext = &v1.PodSecurityContext{Sysctls: []v1.Sysctl{
		{Name: "net.ipv4.tcp_syncookies", Value: "0"},
		{Name: "net/ipv4/conf/eth0.100/rp_filter", Value: "1"},
		{Name: "kernel/shm_rmid_forced", Value: ""},
	}}
	run := sandboxRun(p)
	config, _, err := plainBuilder().Sandbox(&run)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"net.ipv4.tcp_syncookies": "0", "net.ipv4.conf.eth0/100.rp_filter": "1", "kernel.shm_rmid_forced": ""}
	if d := cmp.Diff(want, config.GetLinux().GetSysctls()); d != "" {
		t.Errorf("sysctls (-want +got):\n%s", d)
	}
}

package runtime

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	v1 "k8s.io/api/core/v1"
)

func TestRunSandboxMakesTheLogDirectory(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := newPod("web")
	if id := r.runSandbox(t, p); id == "" {
		t.Error("no ID")
	}
	if info, err := os.Stat(r.layout.LogDir(p)); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("log directory: %v, %v; want mode 0755", info, err)
	}
}

func TestRunSandboxReportsTheRuntimesError(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := newPod("web")
	r.runSandbox(t, p)
	_, err := r.RunSandbox(t.Context(), sandboxRun(p))
	expectError(t, err, "run sandbox: failed to reserve sandbox name", "web_default_uid-web_0")
}

func TestMissingClusterDNSIsSaidOncePerPod(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	web, db := newPod("web"), newPod("db")
	for _, p := range []*v1.Pod{web, db} {
		p.Spec.DNSPolicy, p.Spec.HostNetwork = v1.DNSClusterFirstWithHostNet, true
	}
	r.cri.FailTimes("RunPodSandbox", 2, status.Error(codes.Unknown, "not now"))
	for range 3 {
		_, _ = r.RunSandbox(t.Context(), sandboxRun(web))
	}
	r.runSandbox(t, db)
	mustEqual(t, "events", []string{"Warning MissingClusterDNS", "Warning MissingClusterDNS"}, r.events.reasons())
}

func TestStoppingAndRemovingASandboxTwiceSucceeds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.runSandbox(t, newPod("web"))
	for range 2 {
		if err := r.StopSandbox(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	for range 2 {
		if err := r.RemoveSandbox(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	r.cri.Fail("StopPodSandbox", status.Error(codes.NotFound, "not found"))
	r.cri.Fail("RemovePodSandbox", status.Error(codes.NotFound, "not found"))
	if err := r.StopSandbox(t.Context(), id); err != nil {
		t.Errorf("a runtime that says not found: %v", err)
	}
	if err := r.RemoveSandbox(t.Context(), id); err != nil {
		t.Errorf("a runtime that says not found: %v", err)
	}
}

func TestStopAndRemoveReportErrors(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cri.Fail("StopPodSandbox", status.Error(codes.Unknown, "netns is busy"))
	r.cri.Fail("RemovePodSandbox", status.Error(codes.Unknown, "netns is busy"))
	expectError(t, r.StopSandbox(t.Context(), "abc"), "stop sandbox abc: netns is busy")
	expectError(t, r.RemoveSandbox(t.Context(), "abc"), "remove sandbox abc: netns is busy")
}

func TestSandboxConfig(t *testing.T) {
	t.Parallel()
	run := fullRun(fullPod()).Sandbox
	config, notices, err := plainRuntime().sandboxConfig(&run)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "sandbox-pod-network.golden.json", asJSON(t, config))
	if len(notices) > 0 { // ClusterFirst is the default, and says nothing
		t.Errorf("notices %v, want none", notices)
	}

	p := fullPod()
	p.Spec.HostNetwork, p.Spec.HostPID, p.Spec.HostIPC = true, true, true
	run.Pod = p
	if config, _, err = plainRuntime().sandboxConfig(&run); err != nil {
		t.Fatal(err)
	}
	golden(t, "sandbox-node-network.golden.json", asJSON(t, config))
}

func TestSandboxConfigRefusesAnUnknownProtocol(t *testing.T) {
	t.Parallel()
	p := newPod("web")
	p.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: 80, Protocol: "HTTP"}}
	run := sandboxRun(p)
	_, _, err := plainRuntime().sandboxConfig(&run)
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
	config, _, err := plainRuntime().sandboxConfig(&run)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"net.ipv4.tcp_syncookies": "0", "net.ipv4.conf.eth0/100.rp_filter": "1", "kernel.shm_rmid_forced": ""}
	if d := cmp.Diff(want, config.GetLinux().GetSysctls()); d != "" {
		t.Errorf("sysctls (-want +got):\n%s", d)
	}
}

//go:build vm

package vm

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
)

// podManifest returns a pod of the test image; fields are further lines of its container.
func podManifest(name, args string, fields ...string) string {
	text := "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + "}\nspec:\n  terminationGracePeriodSeconds: 1\n  containers:\n  - name: main\n" +
		"    image: registry.wardlet.test/test:1\n    imagePullPolicy: Never\n    args: [" + args + "]\n"
	if len(fields) > 0 {
		text += "    " + strings.Join(fields, "\n    ") + "\n"
	}
	return text
}

// TestPods_inSlicesOfSystemd: without a word in agent.toml the agent makes cgroups as the runtime
// does, through systemd, and the kernel has the limits of a pod. They end with the pod.
func TestPods_inSlicesOfSystemd(t *testing.T) {
	m := newMachine(t, "#pod_pids_limit = -1", "pod_pids_limit = 64", "#memory_throttling_factor = 0.0", "memory_throttling_factor = 0.9",
		`#memory_reservation_policy = "None"`, `memory_reservation_policy = "TieredReservation"`)
	m.manifest(t, "web", podManifest("web", "sleep", "resources: {limits: {cpu: 250m, memory: 64Mi}, requests: {cpu: 100m, memory: 32Mi}}"))
	p := m.running(t, "web")["web"]
	slice := "/sys/fs/cgroup/wardlet.slice/wardlet-burstable.slice/wardlet-burstable-pod" + strings.ReplaceAll(string(p.UID), "-", "_") + ".slice"
	scope := slice + "/cri-containerd-" + strings.TrimPrefix(p.Status.ContainerStatuses[0].ContainerID, "containerd://") + ".scope"
	for file, want := range map[string]string{
		slice + "/memory.max": "67108864", slice + "/cpu.max": "25000 100000", slice + "/pids.max": "64", slice + "/memory.low": "33554432",
		slice + "/../memory.low": "33554432", slice + "/../../memory.min": "33554432", // what protects the parents limits what protects the pod
		scope + "/memory.max": "67108864", scope + "/memory.high": "63750144", scope + "/memory.low": "33554432", scope + "/memory.oom.group": "1",
	} {
		if got := strings.TrimSpace(m.run(t, "cat "+file)); got != want {
			t.Errorf("%s is %q, want %q", file, got, want)
		}
	}
	if got := m.run(t, "ls -d "+slice+"/*.scope | wc -l"); strings.TrimSpace(got) != "2" {
		t.Errorf("the slice has %s scopes: %s", got, m.try("ls "+slice))
	}
	if got := m.run(t, "systemctl show -P MemoryMax "+slice[strings.LastIndexByte(slice, '/')+1:]); strings.TrimSpace(got) != "67108864" {
		t.Errorf("systemd has the limit %s", got)
	}
	m.eventually(t, "statistics", "wardlet top pods", func(output string) error {
		if !strings.Contains(output, "web") || !strings.Contains(output, "Mi") {
			return fmt.Errorf("%q", output)
		}
		return nil
	})
	if findings := m.run(t, "wardlet check"); strings.Contains(findings, "fail") || strings.Contains(findings, "driver") {
		t.Errorf("check: %s", findings)
	}
	// The manager of the slices reads its units again, and keeps the limits.
	m.run(t, "systemctl daemon-reload")
	if got := strings.TrimSpace(m.run(t, "cat "+slice+"/memory.max")); got != "67108864" {
		t.Errorf("after daemon-reload memory.max is %q", got)
	}
	m.run(t, "rm /etc/wardlet/manifests/web.yaml")
	m.wait(t, "the end of the pod", func(pods map[string]*v1.Pod) error {
		if len(pods) > 0 {
			return fmt.Errorf("%d pods are left", len(pods))
		}
		return nil
	})
	// The slices of all pods and of a class stay, as with a kubelet.
	m.eventually(t, "the end of the pod's slice", "find /sys/fs/cgroup -name '*-pod*'; systemctl list-units --all 'wardlet*.slice' --no-legend", func(output string) error {
		if strings.Contains(output, "-pod") {
			return fmt.Errorf("left: %s", output)
		}
		return nil
	})
}

//go:build vm

package vm

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
)

// TestPods_onAKernelWithAllControllers: a pod has its huge pages and their limit, and the statistics
// have the pressure that the kernel measures. Only the kernel of -kernel cloud has both.
func TestPods_onAKernelWithAllControllers(t *testing.T) {
	if *kernel != "cloud" {
		t.Skip("User Mode Linux has neither: make test-vm VM_KERNEL=cloud")
	}
	m := newMachine(t, `#read_only_listen = ""`, `read_only_listen = "127.0.0.1:10255"`)
	m.run(t, "sysctl -q vm.nr_hugepages=16 && systemctl restart wardlet")
	m.manifest(t, "huge", podManifest("huge", "sleep", "resources: {limits: {cpu: 100m, memory: 64Mi, hugepages-2Mi: 8Mi}}",
		"volumeMounts: [{name: pages, mountPath: /pages}]")+"  volumes: [{name: pages, emptyDir: {medium: HugePages}}]\n")
	m.manifest(t, "busy", podManifest("busy", "burn", "resources: {limits: {cpu: 50m}}"))
	pods := m.running(t, "huge", "busy")
	slice := "/sys/fs/cgroup/wardlet.slice/wardlet-pod" + strings.ReplaceAll(string(pods["huge"].UID), "-", "_") + ".slice"
	scope := slice + "/cri-containerd-" + strings.TrimPrefix(pods["huge"].Status.ContainerStatuses[0].ContainerID, "containerd://") + ".scope"
	for _, group := range []string{slice, scope} {
		if got := strings.TrimSpace(m.run(t, "cat "+group+"/hugetlb.2MB.max")); got != "8388608" {
			t.Errorf("%s: hugetlb.2MB.max is %q", group, got)
		}
	}
	if mounts := m.run(t, "grep pages /proc/$(head -n 1 "+scope+"/cgroup.procs)/mounts"); !strings.Contains(mounts, "hugetlbfs rw") || !strings.Contains(mounts, "pagesize=2M") {
		t.Errorf("the volume is mounted as %q", mounts)
	}
	const stats = `perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new("127.0.0.1:10255") or die $!; print $s "GET /stats/summary HTTP/1.0\r\nHost: vm\r\n\r\n"; print while <$s>'`
	m.eventually(t, "pressure in the statistics", stats, func(output string) error {
		_, body, _ := strings.Cut(output, "\r\n\r\n")
		var summary statsapi.Summary
		if err := json.Unmarshal([]byte(body), &summary); err != nil {
			return fmt.Errorf("%w: %s", err, output)
		}
		if summary.Node.CPU.PSI == nil {
			return errors.New("the node has no pressure")
		}
		for _, p := range summary.Pods {
			if strings.HasPrefix(p.PodRef.Name, "busy") && len(p.Containers) == 1 && p.Containers[0].CPU.PSI != nil && p.Containers[0].CPU.PSI.Full.Total > 0 {
				return nil
			}
		}
		return fmt.Errorf("no pod under pressure: %s", body)
	})
}

//go:build e2e

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// marked counts the sandboxes and containers of pods that the agent on the
// named node made.
func (n node) marked(ctx context.Context, nodeName string) (int, error) {
	count := 0
	sandboxes, err := n.cri.ListPodSandbox(ctx, &criapi.ListPodSandboxRequest{})
	if err != nil {
		return 0, err
	}
	for _, s := range sandboxes.GetItems() {
		if strings.HasSuffix(s.GetMetadata().GetName(), "-"+nodeName) {
			count++
		}
	}
	containers, err := n.cri.ListContainers(ctx, &criapi.ListContainersRequest{})
	if err != nil {
		return 0, err
	}
	for _, c := range containers.GetContainers() {
		if strings.HasSuffix(c.GetLabels()["io.kubernetes.pod.name"], "-"+nodeName) {
			count++
		}
	}
	return count, nil
}

// cgroupsNamed are the cgroups of that name at the top of any hierarchy, and
// those below them.
func cgroupsNamed(name string) ([]string, error) {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	var found []string
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line)
		if !strings.Contains(line, " - cgroup") || len(fields) < 5 {
			continue
		}
		top := filepath.Join(fields[4], name)
		if _, err := os.Stat(top); err == nil {
			found = append(found, top)
		}
	}
	return found, nil
}

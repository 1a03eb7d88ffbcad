//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
)

// TestStats_ofABurningPod has a pod that burns CPU up to its limit, holds 50 MiB and writes 5 MiB to
// an emptyDir, and a pod that sleeps. Every reader shows them with plausible numbers.
func TestStats_ofABurningPod(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "stats")
	probe, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := probe.Addr().String()
	probe.Close()
	a.write(t, a.ConfigFile(), strings.Replace(a.read(t, "agent.toml"), "[runtime]\n", fmt.Sprintf("[node_api]\nread_only_listen = %q\n[runtime]\n", address), 1))
	a.start(t)
	const limits = "    resources: {limits: {cpu: 300m, memory: 200Mi}}\n    volumeMounts: [{name: data, mountPath: /data}]\n  volumes: [{name: data, emptyDir: {}}]\n"
	a.manifest(t, "hot.yaml", hostPod("hot", "burn", "-memory", `"50"`)+limits)
	a.manifest(t, "cold.yaml", hostPod("cold", "sleep"))
	pods := a.running(t, "hot", "cold")
	data := a.Path("root", "pods", string(pods["hot"].UID), "volumes", "kubernetes.io~empty-dir", "data", "file")
	if err := os.WriteFile(data, make([]byte, 5<<20), 0o600); err != nil {
		t.Fatal(err)
	}

	eventually(t, "the summary has all of the pod", func(ctx context.Context) error {
		text, err := readAt(ctx, address, "/stats/summary")
		if err != nil {
			return err
		}
		var summary statsapi.Summary
		if err := json.Unmarshal([]byte(text), &summary); err != nil {
			return err
		}
		return plausible(&summary)
	})
	a.stop(t)
	a.start(t) // the rates of the first reading after a restart are those of a second
	out, err := a.wardlet("top", "pods", "--no-headers")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string][]int{}
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if len(fields) != 4 {
			t.Fatalf("top pods: %q", line)
		}
		cpu, bad := strconv.Atoi(strings.TrimSuffix(fields[2], "m"))
		memory, worse := strconv.Atoi(strings.TrimSuffix(fields[3], "Mi"))
		if err := errors.Join(bad, worse); err != nil {
			t.Fatalf("top pods: %q: %v", line, err)
		}
		used[fields[1]] = []int{cpu, memory}
	}
	hot, cold := used["hot-stats"], used["cold-stats"]
	if len(used) != 2 || hot[0] < 10 || hot[0] > 450 || hot[1] < 50 || hot[1] > 100 || cold[0] > 50 || cold[1] > 40 || hot[0] <= cold[0] {
		t.Errorf("top pods: %v", used)
	}
	a.says(t, "top node", "stats", "Mi", "%")
	a.says(t, "top pods hot-stats --containers -o json", `"kind": "PodMetrics"`, `"name": "main"`)

	var before scrape
	for _, path := range []string{"/metrics/resource", "/metrics/cadvisor"} {
		text, err := readAt(t.Context(), address, path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := parseStamped(text)
		if err != nil {
			t.Fatal(err)
		}
		if path == "/metrics/resource" {
			before = got
			continue
		}
		for _, family := range []string{"container_cpu_usage_seconds_total", "container_memory_rss", "container_spec_memory_limit_bytes", "machine_memory_bytes", "container_cpu_cfs_throttled_periods_total"} {
			if got.sum(family) <= 0 {
				t.Errorf("%s: %s is %v", path, family, got.sum(family))
			}
		}
	}
	const series = `{container="main",namespace="default",pod="hot-stats"}`
	if memory := before.samples["container_memory_working_set_bytes"+series]; memory < 50<<20 || memory > 200<<20 || before.samples["resource_scrape_error"] != 0 || before.samples["node_cpu_usage_seconds_total"] <= 0 {
		t.Errorf("resource metrics: %v", before.samples)
	}
	eventually(t, "the CPU time of the pod grows", func(ctx context.Context) error {
		text, err := readAt(ctx, address, "/metrics/resource")
		if err != nil {
			return err
		}
		now, err := parseStamped(text)
		if grown := now.samples["container_cpu_usage_seconds_total"+series] - before.samples["container_cpu_usage_seconds_total"+series]; err != nil || grown <= 0 {
			return fmt.Errorf("by %v, %w", grown, err)
		}
		return nil
	})
	a.remove(t, "hot.yaml", "cold.yaml")
	a.nothingLeft(t, n)
}

// plausible compares the statistics of the test's pods with what they do.
func plausible(summary *statsapi.Summary) error {
	node := &summary.Node
	if node.CPU == nil || node.CPU.UsageNanoCores == nil || node.Memory == nil || node.Fs == nil || node.Runtime == nil || node.Runtime.ImageFs == nil || node.Rlimit == nil || node.Network == nil {
		return fmt.Errorf("node: %+v", node)
	}
	system := map[string]bool{}
	for i := range node.SystemContainers {
		system[node.SystemContainers[i].Name] = node.SystemContainers[i].Memory != nil && *node.SystemContainers[i].Memory.WorkingSetBytes > 1<<20
	}
	if !system["kubelet"] || !system["runtime"] || !system["pods"] {
		return fmt.Errorf("system containers: %v", system)
	}
	for i := range summary.Pods {
		p := &summary.Pods[i]
		if p.PodRef.Name != "hot-stats" {
			continue
		}
		if len(p.Containers) != 1 || len(p.VolumeStats) != 1 || p.EphemeralStorage == nil || p.CPU == nil || p.Memory == nil || p.ProcessStats == nil {
			return fmt.Errorf("pod: %+v", p)
		}
		c, volume := &p.Containers[0], &p.VolumeStats[0]
		switch {
		case c.CPU == nil || c.CPU.UsageNanoCores == nil || *c.CPU.UsageNanoCores < 10e6 || *c.CPU.UsageNanoCores > 450e6:
			return fmt.Errorf("CPU: %+v", c.CPU)
		case c.Memory == nil || c.Memory.WorkingSetBytes == nil || *c.Memory.WorkingSetBytes < 50<<20 || *c.Memory.WorkingSetBytes > 100<<20:
			return fmt.Errorf("memory: %+v", c.Memory)
		case c.Memory.AvailableBytes == nil || *c.Memory.AvailableBytes != 200<<20-*c.Memory.WorkingSetBytes:
			return fmt.Errorf("available memory: %+v", c.Memory)
		case *volume.UsedBytes < 5<<20 || *volume.UsedBytes > 6<<20 || *p.EphemeralStorage.UsedBytes < *volume.UsedBytes:
			return fmt.Errorf("volume: %+v, storage %+v", volume, p.EphemeralStorage)
		case time.Since(c.StartTime.Time) > 10*patience || c.Logs == nil || c.Rootfs == nil:
			return fmt.Errorf("container: %+v", c)
		}
		return nil
	}
	return fmt.Errorf("no pod among %d", len(summary.Pods))
}

// readAt reads a path of the node's API without a login.
func readAt(ctx context.Context, address, path string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, http.NoBody)
	if err != nil {
		return "", err
	}
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %d %s", path, response.StatusCode, text)
	}
	return string(text), err
}

// parseStamped is parse for samples that may have a timestamp.
func parseStamped(text string) (scrape, error) {
	var plain strings.Builder
	for line := range strings.Lines(text) {
		if labels := strings.LastIndexByte(line, '}'); !strings.HasPrefix(line, "#") {
			fields := strings.Fields(line[labels+1:])
			if labels < 0 {
				fields = fields[1:]
				labels = strings.IndexByte(line, ' ') - 1
			}
			line = line[:labels+1] + " " + fields[0] + "\n"
		}
		plain.WriteString(line)
	}
	return parse(plain.String())
}

// sum adds the samples of a metric.
func (s scrape) sum(family string) (sum float64) {
	for sample, value := range s.samples {
		if name, _, _ := strings.Cut(sample, "{"); name == family {
			sum += value
		}
	}
	return sum
}

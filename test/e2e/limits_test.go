//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
)

// TestLimits_ofLocalStorage: a pod whose volume grows beyond its limit fails, also after a restart
// of the agent. A pod that is critical, or within its limit, runs on.
func TestLimits_ofLocalStorage(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "limits")
	a.write(t, a.ConfigFile(), strings.Replace(a.read(t, "agent.toml"), "[runtime]\n", "[node]\ncritical = [\"default/dns\"]\n[runtime]\n", 1))
	a.start(t)
	limited := func(name string) string {
		return hostPod(name, "sleep") + "    volumeMounts: [{name: data, mountPath: /data}]\n  volumes: [{name: data, emptyDir: {sizeLimit: 1Mi}}]\n"
	}
	names := []string{"full", "dns", "small"}
	for _, name := range names {
		a.manifest(t, name+".yaml", limited(name))
	}
	// The pod without a limit for its volume has one for all that it writes.
	names = append(names, "whole")
	a.manifest(t, "whole.yaml", strings.NewReplacer("{sizeLimit: 1Mi}", "{}", "    volumeMounts", "    resources: {limits: {ephemeral-storage: 1Mi}}\n    volumeMounts").Replace(limited("whole")))
	for name, p := range a.running(t, names...) {
		size := 2 << 20
		if name == "small" {
			size = 512 << 10
		}
		path := a.Path("root", "pods", string(p.UID), "volumes", "kubernetes.io~empty-dir", "data", "file")
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	evicted := func(p *v1.Pod) error {
		if p.Status.Phase != v1.PodFailed || p.Status.Reason != "Evicted" || p.Status.Message != `Usage of EmptyDir volume "data" exceeds the limit "1Mi". ` {
			return fmt.Errorf("phase %s, reason %q, message %q", p.Status.Phase, p.Status.Reason, p.Status.Message)
		}
		return nil
	}
	a.pod(t, "full", evicted)
	a.event(t, "full", "Evicted", "Warning", `Usage of EmptyDir volume "data" exceeds the limit "1Mi".`)
	a.pod(t, "whole", func(p *v1.Pod) error {
		if p.Status.Reason != "Evicted" || p.Status.Message != "Pod ephemeral local storage usage exceeds the total limit of containers 1Mi. " {
			return fmt.Errorf("phase %s, reason %q, message %q", p.Status.Phase, p.Status.Reason, p.Status.Message)
		}
		return nil
	})
	a.stop(t)
	a.start(t)
	a.pod(t, "full", evicted)
	a.running(t, "dns", "small")
	a.remove(t, "full.yaml", "whole.yaml", "dns.yaml", "small.yaml")
	a.nothingLeft(t, n)
}

// TestLimits_ofTheWholePod: the pod's cgroup has the limits of the whole pod, and so has the cgroup of a
// container without limits.
func TestLimits_ofTheWholePod(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "whole")
	a.start(t)
	a.manifest(t, "web.yaml", hostPod("web", "sleep")+"  resources: {limits: {memory: 64Mi, cpu: 500m}, requests: {memory: 32Mi}}\n")
	p := a.running(t, "web")["web"]
	if p.Status.QOSClass != v1.PodQOSBurstable {
		t.Errorf("the pod is %s", p.Status.QOSClass)
	}
	dir := filepath.Join(a.Cgroup(), "burstable", "pod"+string(p.UID))
	container := filepath.Join(dir, strings.TrimPrefix(p.Status.ContainerStatuses[0].ContainerID, "containerd://"))
	for _, dir := range []string{dir, container} {
		if got := memoryLimit(t, dir); got != "67108864" {
			t.Errorf("the limit of %s is %s", dir, got)
		}
	}
	a.remove(t, "web.yaml")
	a.nothingLeft(t, n)
}

// TestLimits_ofAForkBomb: a pod that starts processes without end reaches its limit and no more. Its
// neighbour and the agent go on, and the pod can be removed.
func TestLimits_ofAForkBomb(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := newAgent(t, n, "bomb")
	const most = 100
	a.write(t, a.ConfigFile(), strings.Replace(a.read(t, "agent.toml"), "[runtime]\n", fmt.Sprintf("[node]\npod_pids_limit = %d\n[runtime]\n", most), 1))
	a.start(t)
	a.manifest(t, "small.yaml", hostPod("small", "sleep"))
	small := container(a.running(t, "small")["small"])
	a.manifest(t, "bomb.yaml", hostPod("bomb", "fork")+"    resources: {limits: {cpu: 100m}}\n")
	p := a.running(t, "bomb")["bomb"]
	dir := filepath.Join(a.Cgroup(), "burstable", "pod"+string(p.UID))
	count := func() (now int, err error) {
		text, err := os.ReadFile(filepath.Join("/sys/fs/cgroup/pids", dir, "pids.current"))
		if errors.Is(err, os.ErrNotExist) {
			text, err = os.ReadFile(filepath.Join("/sys/fs/cgroup", dir, "pids.current"))
		}
		if err == nil {
			now, err = strconv.Atoi(strings.TrimSpace(string(text)))
		}
		return now, err
	}
	eventually(t, "the pod reaches its limit", func(context.Context) error {
		now, err := count()
		if err == nil && now < most {
			err = fmt.Errorf("%d processes", now)
		}
		return err
	})
	a.manifest(t, "late.yaml", hostPod("late", "sleep"))
	if after := container(a.running(t, "small", "late")["small"]); after != small {
		t.Errorf("the neighbour runs in %s, before in %s", after, small)
	}
	if now, err := count(); err != nil || now > most {
		t.Errorf("%d processes, %v", now, err)
	}
	a.remove(t, "bomb.yaml", "small.yaml", "late.yaml")
	a.nothingLeft(t, n)
	a.stop(t)
}

// memoryLimit reads the memory limit of a cgroup.
func memoryLimit(t *testing.T, cgroup string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/sys/fs/cgroup/memory", cgroup, "memory.limit_in_bytes"))
	if errors.Is(err, os.ErrNotExist) {
		text, err = os.ReadFile(filepath.Join("/sys/fs/cgroup", cgroup, "memory.max"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

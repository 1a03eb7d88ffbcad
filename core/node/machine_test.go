package node

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/wardlet/wardlet/core/internal/cpu"
)

func TestANodeIsWhatItsMachineHas(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n, err := Machine(&Description{
		Name: "edge", Labels: map[string]string{"zone": "a"}, MaxPods: 20, Storage: filepath.Join(dir, "not", "there"),
		Taints:   []v1.Taint{{Key: "k", Effect: v1.TaintEffectNoExecute}},
		Extended: v1.ResourceList{"example.com/dongle": resource.MustParse("2")},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"kubernetes.io/hostname": "edge", "kubernetes.io/os": "linux", "kubernetes.io/arch": runtime.GOARCH, "zone": "a"}
	if diff := cmp.Diff(want, n.Labels); diff != "" || n.Name != "edge" {
		t.Errorf("node %q, labels (-want +got):\n%s", n.Name, diff)
	}
	if len(n.Spec.Taints) != 1 || n.Spec.Taints[0].Key != "k" {
		t.Errorf("taints %v", n.Spec.Taints)
	}
	has := n.Status.Allocatable
	for name, want := range map[v1.ResourceName]int64{
		v1.ResourceCPU: int64(len(cpu.Online())), v1.ResourcePods: 20, "example.com/dongle": 2,
		v1.ResourceMemory: said(t, "awk", `/MemTotal/ {printf "%.0f", $2*1024}`, "/proc/meminfo"),
		v1.ResourceEphemeralStorage: func() int64 {
			return said(t, "stat", "-f", "-c", "%b", dir) * said(t, "stat", "-f", "-c", "%s", dir)
		}(),
	} {
		q := has[name]
		if q.Value() != want {
			t.Errorf("%s: %d, want %d", name, q.Value(), want)
		}
	}
	if diff := cmp.Diff(n.Status.Capacity, has); diff != "" {
		t.Errorf("pods may not use all there is (-capacity +allocatable):\n%s", diff)
	}
}

// said returns the number that a program prints.
func said(t *testing.T, program string, args ...string) int64 {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	if err != nil {
		t.Fatal(err)
	}
	return int64(n)
}

func TestAMachineThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Machine(&Description{Name: "edge", Storage: filepath.Join(file, "pods")}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("storage below a file: %v", err)
	}
	for _, info := range []string{"", "MemFree: 12 kB", "MemTotal: many kB"} {
		if n, err := memTotal(info); err == nil {
			t.Errorf("%q: %d bytes", info, n)
		}
	}
	if n, err := memTotal("MemTotal:       16384 kB\nMemFree: 1 kB\n"); n != 16<<20 || err != nil {
		t.Errorf("%d bytes, %v; want 16 MiB", n, err)
	}
}

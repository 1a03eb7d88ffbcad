//go:build e2e

package node

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

// Needs root. Uses the hierarchies of this machine, below a root of its own.
func TestCgroupsForReal(t *testing.T) {
	t.Parallel()
	root := fmt.Sprintf("/wardlet-test-%d", os.Getpid())
	c, err := NewCgroups(DriverCgroupfs, root, Bounds{MilliCPU: 1500, Memory: 1 << 30, PIDs: 500, PodPIDs: 20})
	check(t, err)
	ensure(t, c, "g", guaranteed)
	ensure(t, c, "b1", burstable)
	ensure(t, c, "b2", burstable)
	parent := ensure(t, c, "e", bestEffort)
	t.Cleanup(func() {
		for _, uid := range []types.UID{"g", "b1", "b2", "e"} {
			check(t, c.Remove(t.Context(), uid))
		}
		for _, point := range c.hierarchy().points() {
			if _, err := os.Stat(filepath.Join(point, root)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s%s is still there (%v)", point, root, err)
			}
		}
	})

	if h, ok := c.hierarchy().(hierarchyV1); ok {
		for file, want := range map[string]string{
			h.at["cpu"] + root + "/podg/cpu.shares":                         "512",
			h.at["cpu"] + root + "/podg/cpu.cfs_quota_us":                   "50000",
			h.at["memory"] + root + "/podg/memory.limit_in_bytes":           "67108864",
			h.at["cpu"] + root + "/burstable/cpu.shares":                    "512",
			h.at["cpu"] + root + "/besteffort/cpu.shares":                   "2",
			h.at["memory"] + root + "/burstable/memory.limit_in_bytes":      "9223372036854771712",
			h.at["cpu"] + root + "/burstable/podb1/cpu.cfs_quota_us":        "-1",
			h.at["cpu"] + root + "/besteffort/pode/cpu.cfs_quota_us":        "-1",
			h.at["memory"] + root + "/besteffort/pode/memory.use_hierarchy": "1",
			h.at["cpu"] + root + "/cpu.shares":                              "1536",
			h.at["memory"] + root + "/memory.limit_in_bytes":                "1073741824",
			h.at["pids"] + root + "/pids.max":                               "500",
			h.at["pids"] + root + "/podg/pids.max":                          "20",
		} {
			data, err := os.ReadFile(file)
			if err != nil || strings.TrimSpace(string(data)) != want {
				t.Errorf("%s is %q (%v), want %s", file, data, err, want)
			}
		}
	}
	if h, ok := c.hierarchy().(hierarchyV1); ok {
		procs := filepath.Join(h.at["pids"], root, "burstable/podb1/cgroup.procs")
		out, err := exec.CommandContext(t.Context(), "sh", "-c", "echo $$ >"+procs+"; for i in $(seq 40); do sleep 0.2 & done; wait").CombinedOutput()
		if err == nil || !strings.Contains(string(out), "fork") {
			t.Errorf("a pod that may have 20 processes starts 40: %v, %s", err, out)
		}
	}
	pods, err := c.Pods()
	check(t, err)
	if diff := cmp.Diff([]types.UID{"b1", "b2", "e", "g"}, pods); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}

	// A process in a nested cgroup of every hierarchy stays alive.
	sleep := exec.CommandContext(t.Context(), "sleep", "60")
	check(t, sleep.Start())
	for _, point := range c.hierarchy().points() {
		dir := filepath.Join(point, parent)
		if _, err := os.Stat(dir); err != nil {
			continue
		}
		nested := filepath.Join(dir, "container")
		check(t, os.Mkdir(nested, 0o755))
		if h, ok := c.hierarchy().(hierarchyV1); ok && point == h.at["cpuset"] {
			check(t, h.inherit(nested, "cpuset.cpus"))
			check(t, h.inherit(nested, "cpuset.mems"))
		}
		check(t, os.WriteFile(filepath.Join(nested, "cgroup.procs"), []byte(strconv.Itoa(sleep.Process.Pid)), 0o644))
	}
	wantError(t, c.Remove(t.Context(), "e"), strconv.Itoa(sleep.Process.Pid))
	ended := make(chan error, 1)
	go func() { ended <- sleep.Wait() }()
	check(t, c.End(t.Context(), "e"))
	if err := <-ended; err == nil || err.Error() != "signal: killed" {
		t.Errorf("the process has ended with %v", err)
	}
	check(t, c.Remove(t.Context(), "b2"))
}

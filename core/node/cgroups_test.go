package node

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

func newTest(t *testing.T, mountinfo string) (*Cgroups, *fakeKernel) {
	t.Helper()
	k, fs := newFake(t, mountinfo)
	c, err := newCgroups(DriverCgroupfs, "/wardlet", Bounds{}, fs, nil)
	check(t, err)
	return c, k
}

var (
	guaranteed = [2]string{"500m 64Mi", "500m 64Mi"}
	burstable  = [2]string{"250m 64Mi", "- -"}
	bestEffort = [2]string{"- -", "- -"}
)

func ensure(t *testing.T, c *Cgroups, uid types.UID, containers ...[2]string) string {
	t.Helper()
	parent, err := c.Ensure(newPod(uid, containers...))
	check(t, err)
	return parent
}

func TestEnsureV1(t *testing.T) {
	t.Parallel()
	c, k := newTest(t, mountinfoV1)
	for range 2 {
		if got := ensure(t, c, "g", guaranteed); got != "/wardlet/podg" {
			t.Errorf("parent %s", got)
		}
		if got := ensure(t, c, "b", burstable); got != "/wardlet/burstable/podb" {
			t.Errorf("parent %s", got)
		}
		ensure(t, c, "e", bestEffort)
	}
	k.wantFiles(t, map[string]string{
		"cpu,cpuacct/wardlet/podg/cpu.shares":                 "512",
		"cpu,cpuacct/wardlet/podg/cpu.cfs_quota_us":           "50000",
		"cpu,cpuacct/wardlet/podg/cpu.cfs_period_us":          "100000",
		"memory/wardlet/podg/memory.limit_in_bytes":           "67108864",
		"cpu,cpuacct/wardlet/burstable/podb/cpu.shares":       "256",
		"cpu,cpuacct/wardlet/burstable/cpu.shares":            "256",
		"memory/wardlet/burstable/podb/memory.limit_in_bytes": "-1",
		"cpu,cpuacct/wardlet/besteffort/cpu.shares":           "2",
		"cpu,cpuacct/wardlet/besteffort/pode/cpu.shares":      "2",
		// A cpuset without CPUs would accept no process.
		"cpuset/wardlet/cpuset.cpus":                 "0-3",
		"cpuset/wardlet/besteffort/pode/cpuset.cpus": "0-3",
		"cpuset/wardlet/besteffort/pode/cpuset.mems": "0",
	})
	if !k.has("systemd/wardlet/podg") {
		t.Error("the runtime's own hierarchy lacks the pod")
	}
	if k.has("mine/wardlet") || k.has("unified/wardlet") {
		t.Error("a hierarchy that is not the runtime's was touched")
	}
}

func TestEnsureV2(t *testing.T) {
	t.Parallel()
	c, k := newTest(t, mountinfoV2)
	for range 2 {
		ensure(t, c, "g", guaranteed)
		ensure(t, c, "b", burstable)
		ensure(t, c, "e", bestEffort)
	}
	k.wantFiles(t, map[string]string{
		"cgroup.subtree_control":              "cpu memory cpuset hugetlb io pids",
		"wardlet/cgroup.subtree_control":      "cpu memory cpuset hugetlb io pids",
		"wardlet/podg/cpu.weight":             "20",
		"wardlet/podg/cpu.max":                "50000 100000",
		"wardlet/podg/memory.max":             "67108864",
		"wardlet/burstable/podb/cpu.weight":   "10",
		"wardlet/burstable/podb/cpu.max":      "max 100000",
		"wardlet/burstable/podb/memory.max":   "max",
		"wardlet/burstable/cpu.weight":        "10",
		"wardlet/besteffort/cpu.weight":       "1",
		"wardlet/besteffort/pode/cpu.weight":  "1",
		"wardlet/besteffort/pode/memory.max":  "max",
		"wardlet/podg/cgroup.subtree_control": "",
	})
}

func TestEnsure_createsAllClasses(t *testing.T) {
	t.Parallel()
	c, k := newTest(t, mountinfoV2)
	ensure(t, c, "g", guaranteed)
	ensure(t, c, "b", bestEffort)
	for _, when := range []string{"after the first pod has started", "after one of two pods has ended"} {
		for _, class := range []string{"wardlet/burstable", "wardlet/besteffort"} {
			if !k.has(class) {
				t.Errorf("%s there is no %s", when, class)
			}
		}
		if err := c.Remove(t.Context(), "b"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestV2RootWithAProcessInItIsRefusedWithAReason(t *testing.T) {
	t.Parallel()
	c, k := newTest(t, mountinfoV2)
	check(t, k.mkdir(filepath.Join(k.root, "sys/fs/cgroup/wardlet")))
	k.put(t, "sys/fs/cgroup/wardlet/cgroup.controllers", "cpu memory")
	k.put(t, "sys/fs/cgroup/wardlet/cgroup.procs", "7\n")
	_, err := c.Ensure(newPod("b", burstable))
	wantError(t, err, "choose another cgroup_root")
}

func TestV2WithoutAnOptionalController(t *testing.T) {
	t.Parallel()
	c, k := newTest(t, mountinfoV2)
	k.put(t, "sys/fs/cgroup/cgroup.controllers", "cpu memory")
	ensure(t, c, "b", burstable)
	k.wantFiles(t, map[string]string{"wardlet/cgroup.subtree_control": "cpu memory"})
}

func TestBurstablePodsTogetherGetWhatEachRequests(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		mountinfo, file                string
		both, restarted, left, ensured string
	}{
		"v1": {mountinfoV1, "cpu,cpuacct/wardlet/burstable/cpu.shares", "768", "768", "512", "512"},
		// Shares that are computed from weights are inexact until Ensure.
		"v2": {mountinfoV2, "wardlet/burstable/cpu.weight", "30", "29", "19", "20"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, k := newTest(t, tt.mountinfo)
			ensure(t, c, "b1", burstable)
			ensure(t, c, "b2", [2]string{"500m -", "- -"})
			k.wantFiles(t, map[string]string{tt.file: tt.both})

			c, err := newCgroups(DriverCgroupfs, "/wardlet", Bounds{}, c.files, nil)
			check(t, err)
			ensure(t, c, "b1", burstable)
			k.wantFiles(t, map[string]string{tt.file: tt.restarted})

			check(t, c.Remove(t.Context(), "b1"))
			k.wantFiles(t, map[string]string{tt.file: tt.left})
			ensure(t, c, "b2", [2]string{"500m -", "- -"})
			k.wantFiles(t, map[string]string{tt.file: tt.ensured})
		})
	}
}

func TestAPodThatRequestsMoreRaisesItsClass(t *testing.T) {
	t.Parallel()
	c, k := newTest(t, mountinfoV1)
	ensure(t, c, "b1", burstable)
	ensure(t, c, "b1", [2]string{"1 -", "- -"})
	k.wantFiles(t, map[string]string{"cpu,cpuacct/wardlet/burstable/cpu.shares": "1024"})
}

func TestPods(t *testing.T) {
	t.Parallel()
	c, k := newTest(t, mountinfoV1)
	got, err := c.Pods()
	check(t, err)
	if len(got) != 0 {
		t.Errorf("pods before the first: %v", got)
	}
	for i, kind := range [][2]string{guaranteed, burstable, bestEffort} {
		ensure(t, c, types.UID(strconv.Itoa(3-i)), kind)
	}
	// A pod's cgroup in only one hierarchy is listed as well. Other cgroups are not.
	check(t, os.MkdirAll(filepath.Join(k.root, "sys/fs/cgroup/unified/wardlet/besteffort/podx"), 0o700))
	check(t, os.MkdirAll(filepath.Join(k.root, "sys/fs/cgroup/memory/wardlet/other"), 0o700))
	check(t, os.MkdirAll(filepath.Join(k.root, "sys/fs/cgroup/memory/kubepods/pody"), 0o700))
	got, err = c.Pods()
	check(t, err)
	if diff := cmp.Diff([]types.UID{"1", "2", "3", "x"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestAUIDThatIsNoName(t *testing.T) {
	t.Parallel()
	c, k := newTest(t, mountinfoV1)
	for _, uid := range []types.UID{"", "/../../x", "a/b", "a\x00b"} {
		_, err := c.Ensure(newPod(uid, bestEffort))
		wantError(t, err, "change metadata.uid")
		wantError(t, c.Remove(t.Context(), uid), "change metadata.uid")
	}
	if tree := k.tree(t, "wardlet"); len(tree) != 0 {
		t.Errorf("made %v", tree)
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	bounds := Bounds{MilliCPU: 1500, Memory: 1 << 30, PIDs: 900, PodPIDs: 50}
	for name, tt := range map[string]struct {
		mountinfo string
		root, pod map[string]string
	}{
		"v1": {
			mountinfoV1,
			map[string]string{"cpu,cpuacct/wardlet/cpu.shares": "1536", "memory/wardlet/memory.limit_in_bytes": "1073741824", "pids/wardlet/pids.max": "900"},
			map[string]string{"pids/wardlet/burstable/podb/pids.max": "50", "pids/wardlet/burstable/pids.max": "max"},
		},
		"v2": {
			mountinfoV2,
			map[string]string{"wardlet/cpu.weight": "59", "wardlet/memory.max": "1073741824", "wardlet/pids.max": "900", "wardlet/cpu.max": "max 100000"},
			map[string]string{"wardlet/burstable/podb/pids.max": "50"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, fs := newFake(t, tt.mountinfo)
			c, err := newCgroups(DriverCgroupfs, "/wardlet", bounds, fs, nil)
			check(t, err)
			ensure(t, c, "b", burstable)
			k.wantFiles(t, tt.root)
			k.wantFiles(t, tt.pod)
			for path := range tt.root {
				k.put(t, "sys/fs/cgroup/"+path, "7") // as another program does
			}
			if recreated, err := c.Refresh(); err != nil || len(recreated) > 0 {
				t.Errorf("created again: %v, error %v", recreated, err)
			}
			k.wantFiles(t, tt.root)
		})
	}
}

func TestBounds_needTheController(t *testing.T) {
	t.Parallel()
	for _, b := range []Bounds{{MilliCPU: 1000, PIDs: 1}, {PodPIDs: 1}} {
		k, fs := newFake(t, mountinfoV2)
		k.put(t, "sys/fs/cgroup/cgroup.controllers", "cpu memory")
		_, err := newCgroups(DriverCgroupfs, "/wardlet", b, fs, nil)
		wantError(t, err, "no cgroup controller for pids here")
	}
}

func TestRefresh_createsWhatWasRemoved(t *testing.T) {
	t.Parallel()
	for name, mountinfo := range map[string]string{"v1": mountinfoV1, "v2": mountinfoV2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, k := newTest(t, mountinfo)
			ensure(t, c, "a", burstable)
			ensure(t, c, "b", guaranteed)
			gone := "wardlet/burstable/poda"
			shares := "wardlet/burstable/poda/cpu.weight"
			if name == "v1" {
				gone, shares = "memory/"+gone, "cpu,cpuacct/wardlet/burstable/poda/cpu.shares"
			}
			before := k.get(shares)
			check(t, os.RemoveAll(filepath.Join(k.root, "sys/fs/cgroup", gone)))
			for _, want := range [][]types.UID{{"a"}, nil} {
				recreated, err := c.Refresh()
				check(t, err)
				if diff := cmp.Diff(want, recreated); diff != "" {
					t.Errorf("created again (-want +got):\n%s", diff)
				}
			}
			if !k.has(gone) || k.get(shares) != before {
				t.Errorf("%s exists: %v; shares %q, before %q", gone, k.has(gone), k.get(shares), before)
			}
			// The worker of the pod may be the first to miss it.
			check(t, os.RemoveAll(filepath.Join(k.root, "sys/fs/cgroup", gone)))
			ensure(t, c, "a", burstable)
			if recreated, err := c.Refresh(); err != nil || len(recreated) != 1 {
				t.Errorf("created again by Ensure: %v, error %v", recreated, err)
			}
			check(t, c.Remove(t.Context(), "a"))
			if recreated, err := c.Refresh(); err != nil || len(recreated) > 0 || k.has(gone) {
				t.Errorf("after the end of the pod: %v, error %v", recreated, err)
			}
		})
	}
}

func TestLimitsSwap(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ mountinfo, file string }{
		"v1": {mountinfoV1, "memory/memory.memsw.limit_in_bytes"},
		"v2": {mountinfoV2, "system.slice/agent.service/memory.swap.max"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, k := newTest(t, tt.mountinfo)
			k.put(t, "proc/self/cgroup", "0::/system.slice/agent.service\n")
			if c.LimitsSwap() {
				t.Error("swap can be limited before the kernel offers it")
			}
			k.put(t, "sys/fs/cgroup/"+tt.file, "max")
			if !c.LimitsSwap() {
				t.Errorf("swap cannot be limited, although %s exists", tt.file)
			}
		})
	}
}

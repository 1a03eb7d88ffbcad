package kernel

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

const (
	mountsV2 = "30 23 0:27 / /sys/fs/cgroup rw,nosuid - cgroup2 none rw,nsdelegate\n"
	mountsV1 = "31 30 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup none rw,cpu,cpuacct\n" +
		"32 30 0:29 / /sys/fs/cgroup/memory rw - cgroup none rw,memory\n" +
		"33 30 0:30 / /sys/fs/cgroup/pids rw - cgroup none rw,pids\n" +
		"34 30 0:31 / /sys/fs/cgroup/blkio rw - cgroup none rw,blkio\n" +
		"35 30 0:32 / /sys/fs/cgroup/unified rw - cgroup2 none rw\n"
)

// machine makes files and opens the machine that has them.
func machine(t *testing.T, files map[string]string) *Kernel {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	k, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// below returns files with a prefix added to their names.
func below(prefix string, files map[string]string) map[string]string {
	out := map[string]string{}
	for name, content := range files {
		out[prefix+name] = content
	}
	return out
}

func joined(all ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, files := range all {
		maps.Copy(out, files)
	}
	return out
}

const pressureText = "some avg10=1.50 avg60=2.00 avg300=0.25 total=1000\nfull avg10=0.50 avg60=0.00 avg300=0.00 total=20\n"

var pressureOf = &Pressure{Some: Stall{Avg10: 1.5, Avg60: 2, Avg300: 0.25, Total: 1_000_000}, Full: Stall{Avg10: 0.5, Total: 20_000}}

func TestAll(t *testing.T) {
	t.Parallel()
	n := func(n uint64) *uint64 { return &n }
	v2 := below("sys/fs/cgroup/pods/a/", map[string]string{
		"cpu.stat":       "usage_usec 1500\nuser_usec 1000\nsystem_usec 500\nnr_periods 10\nnr_throttled 3\nthrottled_usec 70\n",
		"memory.current": "5000\n", "memory.max": "9000\n", "memory.swap.current": "10\n", "memory.swap.max": "max\n", "memory.peak": "6000\n",
		"memory.stat":   "anon 3000\nfile 1500\nfile_mapped 200\ninactive_file 700\npgfault 40\npgmajfault 2\n",
		"memory.events": "low 0\nmax 4\noom 1\noom_kill 1\n", "cgroup.procs": "11\n12\n", "pids.current": "5\n", "pids.max": "max\n",
		"cpu.weight": "39\n", "cpu.max": "50000 100000\n", "io.stat": "8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0\nbad line\n",
		"cpu.pressure": pressureText, "memory.pressure": pressureText, "io.pressure": "",
	})
	v1 := joined(
		below("sys/fs/cgroup/cpu,cpuacct/pods/a/", map[string]string{
			"cpuacct.usage": "1500000\n", "cpuacct.stat": "user 100\nsystem 50\n", "cpu.stat": "nr_periods 10\nnr_throttled 3\nthrottled_time 70000\n",
			"cpu.shares": "1024\n", "cpu.cfs_quota_us": "-1\n", "cpu.cfs_period_us": "100000\n",
		}),
		below("sys/fs/cgroup/memory/pods/a/", map[string]string{
			"memory.usage_in_bytes": "5000\n", "memory.limit_in_bytes": "9223372036854771712\n", "memory.max_usage_in_bytes": "6000\n", "memory.failcnt": "4\n",
			"memory.stat":        "rss 1\ncache 2\ntotal_rss 3000\ntotal_cache 1500\ntotal_inactive_file 700\ntotal_mapped_file 200\ntotal_pgfault 40\ntotal_pgmajfault 2\ntotal_swap 10\n",
			"memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n", "cgroup.procs": "11\n12\n",
		}),
		below("sys/fs/cgroup/pids/pods/a/", map[string]string{"pids.current": "5\n", "pids.max": "100\n"}),
		below("sys/fs/cgroup/blkio/pods/a/", map[string]string{
			"blkio.throttle.io_service_bytes": "8:0 Read 1\n8:0 Write 2\n8:0 Total 3\nTotal 3\n", "blkio.throttle.io_serviced": "8:0 Read 3\n8:0 Write 4\n",
		}),
	)
	for name, test := range map[string]struct {
		files map[string]string
		want  Cgroup
	}{
		"v2": {joined(v2, map[string]string{"proc/self/mountinfo": mountsV2}), Cgroup{
			CPU: n(1_500_000), User: n(1_000_000), System: n(500_000), Periods: n(10), Throttled: n(3), ThrottledTime: n(70_000),
			Memory: n(5000), Resident: n(3000), Cache: n(1500), Mapped: n(200), Inactive: n(700), Peak: n(6000), Swap: n(10), PageFaults: n(40), MajorPageFaults: n(2),
			LimitHits: n(4), OOMKills: n(1), MemoryLimit: n(9000), Processes: n(2), Tasks: n(5), Shares: n(998), Quota: n(50_000), Period: n(100_000),
			Devices: []Device{{Number: "8:0", ReadBytes: 1, WrittenBytes: 2, Reads: 3, Writes: 4}}, CPUPressure: pressureOf, MemoryPressure: pressureOf,
		}},
		"v1": {joined(v1, map[string]string{"proc/self/mountinfo": mountsV1}), Cgroup{
			CPU: n(1_500_000), User: n(1_000_000_000), System: n(500_000_000), Periods: n(10), Throttled: n(3), ThrottledTime: n(70_000),
			Memory: n(5000), Resident: n(3000), Cache: n(1500), Mapped: n(200), Inactive: n(700), Peak: n(6000), Swap: n(10), PageFaults: n(40), MajorPageFaults: n(2),
			LimitHits: n(4), OOMKills: n(1), Processes: n(2), Tasks: n(5), TasksLimit: n(100), Shares: n(1024), Period: n(100_000),
			Devices: []Device{{Number: "8:0", ReadBytes: 1, WrittenBytes: 2, Reads: 3, Writes: 4}},
		}},
		"a cgroup that is gone, v2": {map[string]string{"proc/self/mountinfo": mountsV2}, Cgroup{}},
		"a cgroup that is gone, v1": {map[string]string{"proc/self/mountinfo": mountsV1}, Cgroup{}},
		"nothing mounted":           {map[string]string{"proc/self/mountinfo": ""}, Cgroup{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := machine(t, test.files).All("/pods/a")
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if set := got.WorkingSet(); got.Memory != nil && *set != 4300 || got.Memory == nil && set != nil {
				t.Errorf("working set %v", set)
			}
		})
	}
}

func TestUse_ofAMachineWithoutSwap(t *testing.T) {
	t.Parallel()
	const titles = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
	zero := uint64(0)
	for name, tc := range map[string]struct {
		swaps string
		want  *uint64
	}{
		"there is none":  {titles, &zero},
		"there is some":  {titles + "/dev/vdb partition 1048572 0 -2\n", nil},
		"it is not said": {"", nil},
	} {
		k := machine(t, map[string]string{
			"proc/self/mountinfo": mountsV1, "proc/swaps": tc.swaps, "sys/fs/cgroup/memory/pods/a/memory.usage_in_bytes": "5000\n",
		})
		got := k.Use("/pods/a")
		if diff := cmp.Diff([]*uint64{tc.want, tc.want}, []*uint64{got.Swap, got.SwapLimit}); diff != "" {
			t.Errorf("%s: use and limit (-want +got):\n%s", name, diff)
		}
	}
}

// TestComplete_ofNoCgroup has counters of the whole machine, which are not those of an unknown cgroup.
func TestComplete_ofNoCgroup(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]map[string]string{
		"v2": joined(map[string]string{"proc/self/mountinfo": mountsV2}, below("sys/fs/cgroup/", map[string]string{
			"cpu.stat": "usage_usec 1500\n", "memory.stat": "anon 3000\n", "cgroup.procs": "1\n", "io.stat": "8:0 rbytes=1\n", "cpu.pressure": pressureText,
		})),
		"v1": {
			"proc/self/mountinfo": mountsV1, "sys/fs/cgroup/cpu,cpuacct/cpuacct.usage": "1500\n", "sys/fs/cgroup/cpu,cpuacct/cpu.shares": "1024\n",
			"sys/fs/cgroup/memory/memory.usage_in_bytes": "5000\n", "sys/fs/cgroup/memory/cgroup.procs": "1\n",
		},
	} {
		k := machine(t, files)
		for _, had := range []Cgroup{{}, {CPU: new(uint64(7))}} {
			if diff := cmp.Diff(had, k.Complete("", had)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
		if all := k.All("/"); all.CPU == nil || all.Processes == nil {
			t.Errorf("%s: the root cgroup has %+v", name, all)
		}
	}
}

func TestPods(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		root string
		dirs []string
		want map[types.UID]string
	}{
		"cgroupfs": {"/wardlet", []string{"wardlet/podg-1/c1", "wardlet/burstable/podb-1", "wardlet/besteffort/pode-1", "wardlet/other"}, map[types.UID]string{
			"g-1": "/wardlet/podg-1", "b-1": "/wardlet/burstable/podb-1", "e-1": "/wardlet/besteffort/pode-1",
		}},
		"systemd": {"/w.slice", []string{"w.slice/w-podg_1.slice", "w.slice/w-burstable.slice/w-burstable-podb_1.slice", "w.slice/x.service"}, map[types.UID]string{
			"g-1": "/w.slice/w-podg_1.slice", "b-1": "/w.slice/w-burstable.slice/w-burstable-podb_1.slice",
		}},
		"a root below a slice that begins like a pod": {"/e.slice/e-pods.slice", []string{
			"e.slice/e-pods.slice/e-pods-podg_1.slice", "e.slice/e-pods.slice/e-pods-burstable.slice/e-pods-burstable-podb_1.slice",
		}, map[types.UID]string{
			"g-1": "/e.slice/e-pods.slice/e-pods-podg_1.slice", "b-1": "/e.slice/e-pods.slice/e-pods-burstable.slice/e-pods-burstable-podb_1.slice",
		}},
		"no root yet": {"/wardlet", nil, map[types.UID]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"proc/self/mountinfo": mountsV2}
			for _, dir := range test.dirs {
				files["sys/fs/cgroup/"+dir+"/cgroup.procs"] = ""
			}
			if diff := cmp.Diff(test.want, machine(t, files).Pods(test.root)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestContainers(t *testing.T) {
	t.Parallel()
	k := machine(t, map[string]string{
		"proc/self/mountinfo": mountsV1, "sys/fs/cgroup/memory/w/podu/abc/cgroup.procs": "7\n8\n", "sys/fs/cgroup/memory/w/podu/cri-containerd-def.scope/cgroup.procs": "", "sys/fs/cgroup/memory/w/podu/tasks": "",
	})
	want := map[string]string{"abc": "/w/podu/abc", "def": "/w/podu/cri-containerd-def.scope"}
	if diff := cmp.Diff(want, k.Containers("/w/podu")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := []int{k.Member("/w/podu/abc"), k.Member(want["def"]), k.Member("/gone"), k.Member("")}; !slices.Equal(got, []int{7, 0, 0, 0}) {
		t.Errorf("members %v", got)
	}
	if got := k.Containers(""); got != nil {
		t.Errorf("containers of no pod: %v", got)
	}
}

// TestContainers_ofCRIO leaves out the cgroups of the monitors, which have the IDs of their containers.
func TestContainers_ofCRIO(t *testing.T) {
	t.Parallel()
	k := machine(t, map[string]string{
		"proc/self/mountinfo": mountsV2, "sys/fs/cgroup/p/crio-abc.scope/x": "", "sys/fs/cgroup/p/crio-conmon-abc.scope/x": "", "sys/fs/cgroup/p/crio-conmon-def/x": "", "sys/fs/cgroup/p/crio-def/x": "",
	})
	if diff := cmp.Diff(map[string]string{"abc": "/p/crio-abc.scope", "def": "/p/crio-def"}, k.Containers("/p")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestProcesses reads cgroups of containers whose processes are in cgroups below, as with crun.
func TestProcesses(t *testing.T) {
	t.Parallel()
	k := machine(t, joined(map[string]string{"proc/self/mountinfo": mountsV2}, below("sys/fs/cgroup/p/", map[string]string{
		"own/cgroup.procs": "7\n8\n", "own/below/cgroup.procs": "9\n",
		"crun/cgroup.procs": "", "crun/container/cgroup.procs": "7\n8\n", "crun/container/deeper/cgroup.procs": "9\n", "crun/container2/cgroup.procs": "10\n",
		"ended/cgroup.procs": "", "ended/container/cgroup.procs": "",
		"cgroup.procs": "",
	}), map[string]string{"sys/fs/cgroup/cgroup.procs": "1\n"}))
	for cgroup, want := range map[string]struct {
		processes *uint64
		member    int
	}{
		"/p/own": {new(uint64(2)), 7}, "/p/crun": {new(uint64(3)), 7}, "/p/ended": {}, "/p/gone": {}, "": {},
	} {
		if diff := cmp.Diff(want.processes, k.Processes(cgroup)); diff != "" {
			t.Errorf("processes of %q (-want +got):\n%s", cgroup, diff)
		}
		if got := k.Member(cgroup); got != want.member {
			t.Errorf("member of %q: %d, want %d", cgroup, got, want.member)
		}
	}
}

func TestMachine(t *testing.T) {
	t.Parallel()
	k := machine(t, map[string]string{
		"proc/self/mountinfo": mountsV2,
		"proc/meminfo":        "MemTotal:       1000 kB\nMemFree:         400 kB\nAnonPages:        50 kB\nInactive(file):  100 kB\nSwapTotal:  20 kB\nSwapFree:   5 kB\n",
		"proc/vmstat":         "pgfault 77\npgmajfault 3\n",
		"proc/stat":           "cpu  1 2 3 1000 1000 4 5 6 7 8\ncpu0 1 2 3 4 5 6 7 8 9 10\nintr 5\nbtime 1700000000\n",
		"proc/loadavg":        "0.1 0.2 0.3 2/345 99\n", "proc/sys/kernel/pid_max": "32768\n", "proc/sys/kernel/threads-max": "1000\n",
		"proc/pressure/cpu": pressureText, "proc/7/stat": "7 (a b) c) S 1 1 1 0 -1 4194304 10 0 20 0 30 40 0 0 20 0 1 0 500 4096 6 0 0\n",
		"proc/7/net/dev": "Inter-|   Receive\n face |bytes\n    lo: 9 9 9 9 0 0 0 0 9 9 9 9 0 0 0 0\n" +
			"veth12ab: 9 9 9 9 0 0 0 0 9 9 9 9 0 0 0 0\nDocker0: 9 9 9 9 0 0 0 0 9 9 9 9 0 0 0 0\nnerdctl0: 9 9 9 9 0 0 0 0 9 9 9 9 0 0 0 0\n  eth0: 1 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0\n bad0: x 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0\n",
		"proc/7/net/route": "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\neth1\t0000A8C0\t0\t1\t0\t0\t0\t00FFFFFF\neth0\t00000000\t010011AC\t3\t0\t0\t0\t00000000\n",
		"proc/8/net/ipv6_route": "fe80 40 0 0 0 0 0 0 0 eth5\n00000000000000000000000000000000 00 00000000000000000000000000000000 00 00 00 00 00 00 lo\n" +
			"00000000000000000000000000000000 00 00000000000000000000000000000000 00 fe80 00000400 1 0 3 eth6\n",
	})
	memory, err := k.Memory()
	faults, major := uint64(77), uint64(3)
	want := Machine{Total: 1000 << 10, Usage: 600 << 10, WorkingSet: 500 << 10, Anonymous: 50 << 10, SwapTotal: 20 << 10, SwapFree: 5 << 10, PageFaults: &faults, MajorPageFaults: &major}
	if diff := cmp.Diff(want, memory); err != nil || diff != "" {
		t.Errorf("memory %v (-want +got):\n%s", err, diff)
	}
	if used, since, err := k.CPU(); err != nil || used != 21*tick || !since.Equal(time.Unix(1_700_000_000, 0)) {
		t.Errorf("CPU %d since %v, %v", used, since, err)
	}
	if now, most, err := k.Tasks(); err != nil || now != 345 || most != 1000 {
		t.Errorf("tasks %d of %d, %v", now, most, err)
	}
	cpu, memoryPressure, io := k.Pressure()
	if diff := cmp.Diff(pressureOf, cpu); diff != "" || memoryPressure != nil || io != nil {
		t.Errorf("pressure %v, %v (-want +got):\n%s", memoryPressure, io, diff)
	}
	process, err := k.Process(7)
	if want := (Process{CPU: 70 * tick, Memory: 6 * uint64(os.Getpagesize()), PageFaults: 10, MajorPageFaults: 20, Started: 5 * time.Second}); err != nil || process != want {
		t.Errorf("process %+v, %v; want %+v", process, err, want)
	}
	interfaces, err := k.Interfaces(7)
	if diff := cmp.Diff([]Interface{{"eth0", Traffic{1, 2, 3, 4}, Traffic{5, 6, 7, 8}}}, interfaces); err != nil || diff != "" {
		t.Errorf("interfaces %v (-want +got):\n%s", err, diff)
	}
	for pid, want := range map[int]string{7: "eth0", 8: "eth6", 9: ""} {
		if got := k.DefaultInterface(pid); got != want {
			t.Errorf("default interface of %d: %q, want %q", pid, got, want)
		}
	}
}

// TestMachine_damaged reads files that say nothing.
func TestMachine_damaged(t *testing.T) {
	t.Parallel()
	empty := map[string]string{"proc/self/mountinfo": mountsV2, "proc/meminfo": "", "proc/stat": "", "proc/loadavg": "", "proc/7/stat": "7 (a) S"}
	for name, k := range map[string]*Kernel{"empty": machine(t, empty), "gone": machine(t, map[string]string{"proc/self/mountinfo": ""})} {
		_, _, cpu := k.CPU()
		_, memory := k.Memory()
		_, _, tasks := k.Tasks()
		_, process := k.Process(7)
		for what, err := range map[string]error{"CPU": cpu, "memory": memory, "tasks": tasks, "process": process} {
			if err == nil {
				t.Errorf("%s: no error of %s", name, what)
			}
		}
	}
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("a machine without /proc is opened")
	}
}

// TestOpen_thisMachine compares the numbers of this machine with each other.
func TestOpen_thisMachine(t *testing.T) {
	t.Parallel()
	k, err := Open("/")
	if err != nil {
		t.Fatal(err)
	}
	memory, err := k.Memory()
	if err != nil || memory.Total < 64<<20 || memory.WorkingSet > memory.Total {
		t.Errorf("memory %+v, %v", memory, err)
	}
	process, err := k.Process(os.Getpid())
	if err != nil || process.Memory < 1<<20 || process.Memory > memory.Total {
		t.Errorf("process %+v, %v", process, err)
	}
	used, since, err := k.CPU()
	if err != nil || used < process.CPU || since.After(time.Now()) {
		t.Errorf("CPU %d since %v, %v", used, since, err)
	}
}

func TestDeviceName(t *testing.T) {
	t.Parallel()
	k := machine(t, map[string]string{"proc/self/mountinfo": mountsV2, "sys/dev/block/8:0/uevent": "MAJOR=8\nMINOR=0\nDEVNAME=sda\nDEVTYPE=disk\n"})
	for number, want := range map[string]string{"8:0": "/dev/sda", "8:16": "8:16"} {
		if got := k.DeviceName(number); got != want {
			t.Errorf("%s is %s, want %s", number, got, want)
		}
	}
}

package stats

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
)

const waits = "some avg10=1.50 avg60=0.00 avg300=0.00 total=1000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=20\n"

// TestSummary checks what a full summary has beside CPU and memory. The state of file systems is that
// of this machine, so only its presence is checked.
func TestSummary(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := r.run(t, "web", "main")
	id := p.Containers[0].ID
	stats := used(r.now, time.Second, 4000)
	stats.WritableLayer = &runtimeapi.FilesystemUsage{Timestamp: r.now.UnixNano(), FsId: &runtimeapi.FilesystemIdentifier{Mountpoint: r.root}, UsedBytes: wrapped(1 << 20), InodesUsed: wrapped(3)}
	r.cri.SetStats(id, stats)
	r.write(t, cgroup("web", "", map[string]string{"cpu.pressure": waits, "io.pressure": waits}))
	r.write(t, cgroup("web", id, map[string]string{"cgroup.procs": "7\n8\n", "cpu.pressure": waits, "memory.pressure": waits}))
	r.write(t, map[string]string{
		"sys/fs/cgroup/wardlet/cpu.stat": "usage_usec 3000000\n", "sys/fs/cgroup/wardlet/cpu.pressure": waits,
		"proc/7/cgroup": "1:name=x:/other\n0::/system.slice/wardlet.service\n", "sys/fs/cgroup/system.slice/wardlet.service/memory.pressure": waits,
	})
	r.write(t, map[string]string{"log/web/main/0.log.20260102": strings.Repeat("x", 5000)})

	got, err := r.Summary(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	pressure := &statsapi.PSIStats{Some: statsapi.PSIData{Total: 1_000_000, Avg10: 1.5}, Full: statsapi.PSIData{Total: 20_000}}
	now := metav1.NewTime(r.now)
	web := got.Pods[0]
	c := web.Containers[0]
	system := map[string]statsapi.ContainerStats{}
	for _, c := range got.Node.SystemContainers {
		system[c.Name] = c
	}
	for what, diff := range map[string]string{
		"CPU pressure of the pod": cmp.Diff(pressure, web.CPU.PSI),
		"IO of the pod":           cmp.Diff(&statsapi.IOStats{Time: now, PSI: pressure}, web.IO),
		"CPU pressure":            cmp.Diff(pressure, c.CPU.PSI),
		"memory pressure":         cmp.Diff(pressure, c.Memory.PSI),
		"IO":                      cmp.Diff((*statsapi.IOStats)(nil), c.IO),
		"processes":               cmp.Diff(&statsapi.ProcessStats{ProcessCount: new(uint64(2))}, web.ProcessStats),
		"rootfs":                  cmp.Diff([]*uint64{new(uint64(1 << 20)), new(uint64(3))}, []*uint64{c.Rootfs.UsedBytes, c.Rootfs.InodesUsed}),
		"inodes of logs":          cmp.Diff(new(uint64(2)), c.Logs.InodesUsed),
		"pressure of the node":    cmp.Diff(&statsapi.IOStats{Time: now, PSI: &statsapi.PSIStats{Some: statsapi.PSIData{Total: 5000, Avg10: 1}}}, got.Node.IO),
		"pressure of all pods":    cmp.Diff(pressure, system[statsapi.SystemContainerPods].CPU.PSI),
		"pressure of the agent":   cmp.Diff(pressure, system[statsapi.SystemContainerKubelet].Memory.PSI),
		"limits of processes":     cmp.Diff(&statsapi.RlimitStats{Time: now, MaxPID: new(int64(1000)), NumOfRunningProcesses: new(int64(345))}, got.Node.Rlimit),
		"network of the node":     cmp.Diff(&statsapi.NetworkStats{Time: now, InterfaceStats: eth("eth1"), Interfaces: []statsapi.InterfaceStats{eth("eth0"), eth("eth1")}}, got.Node.Network),
		"network of the pod":      cmp.Diff(got.Node.Network, web.Network),
	} {
		if diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	if logs := *c.Logs.UsedBytes; logs < 5000 || logs > 100_000 {
		t.Errorf("logs use %d bytes", logs)
	}
	if sum := *c.Rootfs.UsedBytes + *c.Logs.UsedBytes; *web.EphemeralStorage.UsedBytes != sum || *web.EphemeralStorage.InodesUsed != 5 {
		t.Errorf("ephemeral storage %d bytes, %d inodes; want %d and 5", *web.EphemeralStorage.UsedBytes, *web.EphemeralStorage.InodesUsed, sum)
	}
	for what, fs := range map[string]*statsapi.FsStats{"node": got.Node.Fs, "rootfs": c.Rootfs, "logs": c.Logs, "ephemeral storage": web.EphemeralStorage} {
		if fs == nil || fs.CapacityBytes == nil || *fs.CapacityBytes == 0 || fs.AvailableBytes == nil || *fs.AvailableBytes > *fs.CapacityBytes {
			t.Errorf("%s: %+v", what, fs)
		}
	}
	if fs := got.Node.Runtime; fs == nil || fs.ImageFs == nil || fs.ContainerFs == nil {
		t.Errorf("runtime: %+v", fs)
	}

	// The reading of CPU and memory is not changed by the details.
	basic, err := r.Summary(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	if left := basic.Pods[0].Containers[0]; left.CPU.PSI != nil || left.Logs != nil || basic.Node.Fs != nil || basic.Pods[0].EphemeralStorage != nil {
		t.Errorf("basic: %+v", left)
	}
}

// eth returns the statistics of an interface of the rig's machine.
func eth(name string) statsapi.InterfaceStats {
	return statsapi.InterfaceStats{Name: name, RxBytes: new(uint64(1)), RxErrors: new(uint64(3)), TxBytes: new(uint64(5)), TxErrors: new(uint64(7))}
}

// TestSummary_hostNetwork leaves out the network of a pod that has none of its own.
func TestSummary_hostNetwork(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.run(t, "web", "main").Sandboxes[0].HostNetwork = true
	got, err := r.Summary(t.Context(), false)
	if err != nil || got.Pods[0].Network != nil {
		t.Errorf("%+v, %v", got.Pods[0].Network, err)
	}
}

// TestSummary_processesBelow has the cgroups of CRI-O with crun: the sandbox has no process, and those of
// the container are one level down.
func TestSummary_processesBelow(t *testing.T) {
	t.Parallel()
	for name, exists := range map[string]bool{"a sandbox without a process": true, "no cgroup of the sandbox": false} {
		r := newRig(t)
		p := r.run(t, "web", "ended", "main")
		box := filepath.Join("sys/fs/cgroup/wardlet/poduid-web", p.Sandboxes[0].ID)
		if err := os.RemoveAll(filepath.Join(r.root, box)); err != nil {
			t.Fatal(err)
		}
		if exists {
			r.write(t, map[string]string{filepath.Join(box, "cgroup.procs"): ""})
		}
		r.write(t, cgroup("web", p.Containers[0].ID, map[string]string{"cgroup.procs": ""}))
		r.write(t, cgroup("web", p.Containers[1].ID, map[string]string{"cgroup.procs": "", "container/cgroup.procs": "8\n9\n"}))
		r.write(t, map[string]string{"proc/8/net/dev": "x\ny\n  eth0: 1 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0\n"})
		got, err := r.Summary(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		web := got.Pods[0]
		if diff := cmp.Diff(&statsapi.ProcessStats{ProcessCount: new(uint64(2))}, web.ProcessStats); diff != "" {
			t.Errorf("%s: processes (-want +got):\n%s", name, diff)
		}
		want := &statsapi.NetworkStats{Time: metav1.NewTime(r.now), InterfaceStats: eth("eth0"), Interfaces: []statsapi.InterfaceStats{eth("eth0")}}
		if diff := cmp.Diff(want, web.Network); diff != "" {
			t.Errorf("%s: network (-want +got):\n%s", name, diff)
		}
	}
}

// TestSummary_withoutACgroup does not take the counters of the root cgroup for those of a pod.
func TestSummary_withoutACgroup(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := r.run(t, "web", "main")
	r.cri.SetStats(p.Containers[0].ID, used(r.now, time.Second, 4000))
	if err := os.RemoveAll(filepath.Join(r.root, "sys/fs/cgroup/wardlet")); err != nil {
		t.Fatal(err)
	}
	r.write(t, map[string]string{
		"sys/fs/cgroup/cpu.stat": "usage_usec 9\nuser_usec 8\n", "sys/fs/cgroup/memory.stat": "file 1500\n", "sys/fs/cgroup/io.stat": "8:0 rbytes=1\n", "sys/fs/cgroup/cgroup.procs": "1\n7\n",
		"sys/fs/cgroup/cpu.pressure": waits, "sys/fs/cgroup/io.pressure": waits,
	})
	got, err := r.Summary(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	if web := got.Pods[0]; web.CPU != nil && web.CPU.PSI != nil || web.IO != nil || web.ProcessStats != nil || web.Network != nil || web.Containers[0].CPU.PSI != nil || web.Containers[0].IO != nil {
		t.Errorf("%+v", web)
	}
	for line := range strings.Lines(scrape(t, r.Cadvisor())) {
		for _, family := range []string{"container_cpu_user", "container_memory_cache", "container_fs_reads", "container_processes", "container_pressure"} {
			if strings.HasPrefix(line, family) && strings.Contains(line, `pod="web"`) {
				t.Error(line)
			}
		}
	}
}

// TestSummary_withoutTheRuntime has no file systems of the runtime, and everything else.
func TestSummary_withoutTheRuntime(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.run(t, "web", "main")
	r.cri.Stop()
	got, err := r.Summary(t.Context(), false)
	if err != nil || got.Node.Runtime != nil || got.Node.Fs == nil || len(got.Pods) != 1 || len(got.Pods[0].Containers) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestWithin keeps the capacity of the file system, and replaces what is used.
func TestWithin(t *testing.T) {
	t.Parallel()
	fs := &statsapi.FsStats{CapacityBytes: new(uint64(10)), UsedBytes: new(uint64(9)), InodesUsed: new(uint64(8)), Inodes: new(uint64(7))}
	at := metav1.NewTime(time.Unix(5, 0))
	want := &statsapi.FsStats{Time: at, CapacityBytes: new(uint64(10)), UsedBytes: new(uint64(1)), Inodes: new(uint64(7))}
	if diff := cmp.Diff(want, within(fs, at, new(uint64(1)), nil)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&statsapi.FsStats{Time: at}, within(nil, at, nil, nil)); diff != "" {
		t.Errorf("of an unknown file system (-want +got):\n%s", diff)
	}
}

package eviction

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/eviction/threshold"
)

func TestMachine_Usage(t *testing.T) {
	t.Parallel()
	const slices = "wardlet.slice/wardlet-burstable.slice/wardlet-burstable-pod"
	for name, test := range map[string]struct {
		v2 bool
		// root is the cgroup of all pods, a pod has the cgroup prefix + its UID + suffix, and its container
		// a cgroup below that.
		root, prefix, suffix, container string
	}{
		"version 1":              {false, "/wardlet", "wardlet/pod", "", "id-1"},
		"version 2":              {true, "/wardlet", "wardlet/burstable/pod", "", "id-1"},
		"version 2 with systemd": {true, "/wardlet.slice", slices, ".slice", "cri-containerd-id1.scope"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, m, log := newTree(t, test.v2)
			m.cfg.CgroupRoot = func() string { return test.root }
			current, inactive, memory, pids := "memory.usage_in_bytes", "total_inactive_file", "cgroup/memory/", "cgroup/pids/"
			if test.v2 {
				current, inactive, memory, pids = "memory.current", "inactive_file", "cgroup/", "cgroup/"
			}
			at := func(point, uid string) string { return point + test.prefix + uid + test.suffix + "/" }
			for _, cgroup := range [][2]string{{at(memory, "a"), "5000"}, {at(memory, "a") + test.container + "/", "3000"}, {at(memory, "broken"), "much"}} {
				f.write(t, cgroup[0]+current, cgroup[1]+"\n", cgroup[0]+"memory.stat", inactive+" 1000\n")
			}
			f.write(t, at(pids, "a")+"pids.current", "17\n", at(pids, "broken")+"pids.current", "max\n")
			m.cfg.Containers = func(uid types.UID) map[string]string {
				return map[types.UID]map[string]string{"a": {"1": "main", "id1": "main", "2": "other"}}[uid]
			}
			var pods []*v1.Pod
			for _, uid := range []types.UID{"a", "broken", "new"} {
				p := &v1.Pod{}
				p.UID = uid
				pods = append(pods, p)
			}
			want := map[types.UID]Usage{"a": {Total: 4000, Containers: map[string]int64{"main": 2000}}, "broken": {Unknown: true}, "new": {}}
			if d := cmp.Diff(want, m.Usage(t.Context(), pods, threshold.MemoryAvailable)); d != "" {
				t.Errorf("memory (-want +got):\n%s", d)
			}
			want = map[types.UID]Usage{"a": {Total: 17}, "broken": {Unknown: true}, "new": {}}
			if d := cmp.Diff(want, m.Usage(t.Context(), pods, threshold.PIDAvailable)); d != "" {
				t.Errorf("processes (-want +got):\n%s", d)
			}
			if n := strings.Count(log.String(), "\n"); n != 2 {
				t.Errorf("%d lines are logged: %s", n, log)
			}
		})
	}
}

func TestMachine_Usage_ofDisks(t *testing.T) {
	t.Parallel()
	const kib = 1 << 10
	// The pod has a volume of 80 KiB, a log of 40 KiB and a layer of 1000 KiB with 9 inodes. Directories
	// take blocks, too, on some file systems.
	for name, test := range map[string]struct {
		of          threshold.Signal
		dedicated   bool
		least, most int64
	}{
		"space of one file system":         {threshold.NodeFSAvailable, false, 1120 * kib, 1160 * kib},
		"space of one, also for images":    {threshold.ImageFSAvailable, false, 1120 * kib, 1160 * kib},
		"space of pods":                    {threshold.NodeFSAvailable, true, 120 * kib, 160 * kib},
		"space of images":                  {threshold.ImageFSAvailable, true, 1000 * kib, 1000 * kib},
		"inodes of pods, with directories": {threshold.NodeFSInodesFree, true, 6, 6},
		"inodes of images":                 {threshold.ImageFSInodesFree, true, 9, 9},
		"inodes of one file system":        {threshold.NodeFSInodesFree, false, 15, 15},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, m, log := newTree(t, true)
			p, _ := podOf(t, "shop/web 0 - 0")
			f.write(t, "log/pods/shop_web_web/main/0.log", strings.Repeat("x", 40*kib), "root/pods/web/volumes/kubernetes.io~empty-dir/data/file", strings.Repeat("x", 80*kib))
			m.cfg.Containers = func(types.UID) map[string]string { return map[string]string{"id": "main"} }
			m.cfg.Layers = func(context.Context) (map[string]Layer, error) {
				return map[string]Layer{"id": {Bytes: 1000 * kib, Inodes: 9}, "foreign": {Bytes: gib}}, nil
			}
			m.dedicated = test.dedicated
			u := m.Usage(t.Context(), []*v1.Pod{p}, test.of)["web"]
			if u.Unknown || u.Total < test.least || u.Total > test.most || log.Len() > 0 {
				t.Errorf("usage %+v, want %d to %d; %s", u, test.least, test.most, log)
			}
			if names := slices.Sorted(maps.Keys(u.Containers)); fmt.Sprint(names) != "[main]" || u.Containers["main"] <= 9 {
				t.Errorf("containers %v", u.Containers)
			}
		})
	}
}

func TestMachine_Usage_withoutTheRuntime(t *testing.T) {
	t.Parallel()
	f, m, log := newTree(t, true)
	p, _ := podOf(t, "shop/web 0 - 0")
	f.write(t, "root/pods/web/volumes/kubernetes.io~empty-dir/data/file", strings.Repeat("x", 8192))
	m.cfg.Layers = func(context.Context) (map[string]Layer, error) { return nil, errors.New("the runtime is away") }
	for range 2 {
		if u := m.Usage(t.Context(), []*v1.Pod{p}, threshold.NodeFSAvailable)["web"]; u.Unknown || u.Total < 8192 {
			t.Errorf("usage %+v", u)
		}
	}
	if strings.Count(log.String(), "the runtime is away") != 1 {
		t.Errorf("log %s", log)
	}
}

package eviction

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/eviction/threshold"
	"github.com/wardlet/wardlet/core/internal/filesystem"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/stats/kernel"
)

// tree is a machine whose /proc, cgroups, pods and logs are files below a directory.
type tree struct{ dir string }

// write writes files, from pairs of name and text.
func (f *tree) write(t *testing.T, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		path := filepath.Join(f.dir, pairs[i])
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(pairs[i+1]), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

func (f *tree) remove(t *testing.T, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(f.dir, name)); err != nil {
		t.Error(err)
	}
}

// newTree returns a machine with 8 GiB of memory and 1000 process IDs.
func newTree(t *testing.T, v2 bool) (*tree, *Machine, *bytes.Buffer) {
	t.Helper()
	f := &tree{dir: t.TempDir()}
	f.write(t, "proc/sys/kernel/pid_max", "4194304\n", "proc/sys/kernel/threads-max", "1000\n", "proc/loadavg", "1.36 3.49 4.53 2/351 3715089\n")
	f.write(t, "root/file", "", "images/file", "", "proc/meminfo", "MemTotal: 8388608 kB\nMemFree: 5242880 kB\nInactive(file): 1048576 kB\n")
	if v2 {
		f.write(t, "proc/self/mountinfo", "30 23 0:27 / /cgroup rw - cgroup2 none rw\n")
	} else {
		f.write(t, "proc/self/mountinfo", "30 23 0:27 / /cgroup/memory rw - cgroup none rw,memory\n31 23 0:28 / /cgroup/pids rw - cgroup none rw,pids\n")
		f.write(t, "cgroup/memory/memory.stat", "inactive_file 5\ntotal_inactive_file 1073741824\n", "cgroup/memory/memory.usage_in_bytes", "3221225472\n")
	}
	counters, err := kernel.Open(f.dir)
	if err != nil {
		t.Fatal(err)
	}
	log := &bytes.Buffer{}
	m := NewMachine(MachineConfig{
		Kernel: counters, CgroupRoot: func() string { return "/wardlet" }, Layout: pod.Layout{PodRoot: filepath.Join(f.dir, "root"), LogRoot: filepath.Join(f.dir, "log")},
		ImageFS: func(context.Context) (string, error) { return filepath.Join(f.dir, "images"), nil },
		Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}})), Now: time.Now,
	})
	return f, m, log
}

// fixed makes all file systems of a machine have one state, on devices named by path.
func fixed(m *Machine, devices map[string]uint64) {
	m.disks.ReadFunc = func(path string) (filesystem.State, error) {
		return filesystem.State{Available: 30, Capacity: 100, FreeInodes: 4, Inodes: 10, Device: devices[filepath.Base(path)]}, nil
	}
}

func TestMachine_Observe(t *testing.T) {
	t.Parallel()
	for _, v2 := range []bool{false, true} {
		_, m, log := newTree(t, v2)
		fixed(m, nil)
		want := Observations{
			threshold.MemoryAvailable: {6 * gib, 8 * gib}, threshold.PIDAvailable: {649, 1000},
			threshold.NodeFSAvailable: {30, 100}, threshold.NodeFSInodesFree: {4, 10}, threshold.ImageFSAvailable: {30, 100}, threshold.ImageFSInodesFree: {4, 10},
		}
		if d := cmp.Diff(want, m.Observe(t.Context())); d != "" || log.Len() > 0 {
			t.Errorf("version 2: %v: observations (-want +got):\n%s%s", v2, d, log)
		}
		if m.DedicatedImageFS() {
			t.Error("one device counts as two")
		}
	}
	_, m, _ := newTree(t, true)
	fixed(m, map[string]uint64{"images": 7})
	if m.Observe(t.Context()); !m.DedicatedImageFS() {
		t.Error("two devices count as one")
	}
}

func TestMachine_Observe_ofAllPods(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		limit, used int64
		want        Observations
	}{
		"within their limit": {4 * gib, 3 * gib, Observations{threshold.AllocatableMemoryAvailable: {2 * gib, 4 * gib}}},
		"beyond it":          {gib, 3 * gib, Observations{threshold.AllocatableMemoryAvailable: {0, gib}}},
		"before the first":   {gib, 0, Observations{}},
		"without a limit":    {0, 3 * gib, Observations{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, m, _ := newTree(t, true)
			m.cfg.MemoryLimit = test.limit
			if test.used > 0 {
				f.write(t, "cgroup/wardlet/memory.current", strconv.FormatInt(test.used, 10), "cgroup/wardlet/memory.stat", "inactive_file 1073741824\n")
			}
			seen, got := m.Observe(t.Context()), Observations{}
			if o, ok := seen[threshold.AllocatableMemoryAvailable]; ok {
				got[threshold.AllocatableMemoryAvailable] = o
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("observations (-want +got):\n%s", d)
			}
		})
	}
}

func TestMachine_Observe_ofThisMachine(t *testing.T) {
	t.Parallel()
	_, m, log := newTree(t, false)
	var err error
	if m.cfg.Kernel, err = kernel.Open("/"); err != nil {
		t.Fatal(err)
	}
	seen := m.Observe(t.Context())
	for signal, o := range seen {
		if o.Available < 0 || o.Available > o.Capacity || o.Capacity <= 0 {
			t.Errorf("%s: %+v", signal, o)
		}
	}
	if _, ok := seen[threshold.NodeFSAvailable]; !ok || log.Len() > 0 {
		t.Errorf("observations %v; log: %s", seen, log)
	}
}

func TestMachine_Observe_inNamespace(t *testing.T) {
	t.Parallel()
	f, m, _ := newTree(t, true)
	// The root of a cgroup namespace has what the root of a machine has not.
	f.write(t, "cgroup/memory.current", "5368709120\n", "cgroup/memory.stat", "inactive_file 1073741824\n")
	if o := m.Observe(t.Context())[threshold.MemoryAvailable]; o.Available != 4*gib {
		t.Errorf("memory %+v", o)
	}
}

func TestMachine_Observe_unreadable(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		breaks func(t *testing.T, f *tree, m *Machine)
		gone   []threshold.Signal
		says   string
	}{
		"no meminfo": {func(t *testing.T, f *tree, _ *Machine) {
			t.Helper()
			f.remove(t, "proc/meminfo")
		}, []threshold.Signal{threshold.MemoryAvailable}, "meminfo: no such file or directory"},
		"garbage in meminfo": {
			func(t *testing.T, f *tree, _ *Machine) {
				t.Helper()
				f.write(t, "proc/meminfo", "MemTotal: lots\n")
			},
			[]threshold.Signal{threshold.MemoryAvailable},
			`no MemTotal`,
		},
		"garbage in loadavg": {
			func(t *testing.T, f *tree, _ *Machine) {
				t.Helper()
				f.write(t, "proc/loadavg", "1 2 3\n")
			},
			[]threshold.Signal{threshold.PIDAvailable},
			`fewer than 4 fields`,
		},
		"no limits of process IDs": {
			func(t *testing.T, f *tree, _ *Machine) {
				t.Helper()
				f.remove(t, "proc/sys/kernel/threads-max")
			},
			[]threshold.Signal{threshold.PIDAvailable},
			"threads-max: no such file or directory",
		},
		"a runtime that is away": {func(_ *testing.T, _ *tree, m *Machine) {
			m.cfg.ImageFS = func(context.Context) (string, error) { return "", errors.New("the runtime is away") }
		}, []threshold.Signal{threshold.ImageFSAvailable, threshold.ImageFSInodesFree}, "the runtime is away"},
		"a runtime that does not say": {func(_ *testing.T, _ *tree, m *Machine) {
			m.cfg.ImageFS = func(context.Context) (string, error) { return "", nil }
		}, []threshold.Signal{threshold.ImageFSAvailable, threshold.ImageFSInodesFree}, "the runtime does not say where its images are"},
		"a file system without inodes": {func(_ *testing.T, _ *tree, m *Machine) {
			m.disks.ReadFunc = func(string) (filesystem.State, error) { return filesystem.State{Available: 1, Capacity: 2}, nil }
		}, []threshold.Signal{threshold.NodeFSInodesFree, threshold.ImageFSInodesFree}, ""},
		"a file system with an error": {func(_ *testing.T, _ *tree, m *Machine) {
			m.disks.ReadFunc = func(path string) (filesystem.State, error) {
				if filepath.Base(path) == "root" {
					return filesystem.State{}, errors.New("input/output error")
				}
				return filesystem.State{Capacity: 1, Inodes: 1}, nil
			}
		}, []threshold.Signal{threshold.NodeFSAvailable, threshold.NodeFSInodesFree}, "input/output error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, m, log := newTree(t, true)
			fixed(m, nil)
			test.breaks(t, f, m)
			seen := m.Observe(t.Context())
			for _, signal := range threshold.Signals() {
				if _, known := seen[signal]; known == slices.Contains(test.gone, signal) {
					t.Errorf("%s is known: %v", signal, known)
				}
			}
			first := log.String()
			m.Observe(t.Context())
			if !strings.Contains(first, test.says) || log.String() != first || (test.says == "") != (first == "") {
				t.Errorf("log %q, then %q, want %q once", first, log.String(), test.says)
			}
		})
	}
}

func TestMachine_Observe_saysWhenItIsOver(t *testing.T) {
	t.Parallel()
	f, m, log := newTree(t, true)
	fixed(m, nil)
	f.write(t, "proc/loadavg", "")
	m.Observe(t.Context())
	f.write(t, "proc/loadavg", "1.36 3.49 4.53 2/351 3715089\n")
	log.Reset()
	if m.Observe(t.Context()); !strings.Contains(log.String(), "level=INFO") || strings.Count(log.String(), "\n") != 1 {
		t.Errorf("log %s", log)
	}
}

func TestMachine_Observe_aFileSystemThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, m, log := newTree(t, true)
		release, reads := make(chan struct{}), atomic.Int32{}
		m.disks.ReadFunc = func(path string) (filesystem.State, error) {
			if filepath.Base(path) == "root" {
				reads.Add(1)
				<-release
			}
			return filesystem.State{Available: 1, Capacity: 2, Inodes: 1}, nil
		}
		began := time.Now()
		for range 3 {
			seen := m.Observe(t.Context())
			if _, known := seen[threshold.NodeFSAvailable]; known || len(seen) != 4 {
				t.Errorf("observations %v", seen)
			}
		}
		if took := time.Since(began); took != 3*filesystem.Timeout || reads.Load() != 1 || strings.Count(log.String(), "does not answer") != 1 {
			t.Errorf("3 passes took %s, with %d reads; log: %s", took, reads.Load(), log)
		}
		close(release)
		synctest.Wait()
		if seen := m.Observe(t.Context()); len(seen) != 6 || reads.Load() != 2 {
			t.Errorf("observations %v after %d reads", seen, reads.Load())
		}
	})
}

func TestMachine_Observe_asksSeldomWhereImagesAre(t *testing.T) {
	t.Parallel()
	_, m, _ := newTree(t, true)
	fixed(m, nil)
	now, asked := noon, 0
	m.cfg.Now = func() time.Time { return now }
	m.cfg.ImageFS = func(context.Context) (string, error) {
		if asked++; asked > 1 {
			return "", errors.New("the runtime is away")
		}
		return "images", nil
	}
	for range 3 {
		if _, known := m.Observe(t.Context())[threshold.ImageFSAvailable]; !known {
			t.Error("images are not known")
		}
		now = now.Add(imageFSTime / 2)
	}
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}

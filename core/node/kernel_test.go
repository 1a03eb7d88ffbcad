package node

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

const (
	mountinfoV2 = "30 23 0:28 / /sys/fs/cgroup rw - cgroup2 none rw,nsdelegate\n"
	// The machine has both versions: v1 has the controllers, v2 is only mounted. Two controllers
	// share a hierarchy, one controller is mounted twice, and one hierarchy belongs to other
	// software.
	mountinfoV1 = `31 23 0:28 / /sys/fs/cgroup ro - tmpfs none ro,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup none rw,cpu,cpuacct
33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup none rw,cpuset
34 31 0:31 / /sys/fs/cgroup/memory rw - cgroup none rw,memory
35 31 0:32 / /sys/fs/cgroup/systemd rw - cgroup none rw,name=systemd
36 31 0:33 / /sys/fs/cgroup/mine rw - cgroup none rw,name=mine
37 31 0:34 / /sys/fs/cgroup/unified rw - cgroup2 none rw
38 23 0:31 / /mnt/memory rw - cgroup none rw,memory
39 31 0:35 / /sys/fs/cgroup/pids rw - cgroup none rw,pids
`
)

// fakeKernel imitates the cgroup file systems in a directory.
type fakeKernel struct {
	root string
	mu   sync.Mutex
	// busy is the number of times that rmdir fails with EBUSY.
	busy int
	// killed are the processes that were killed.
	killed []int
}

func newFake(t *testing.T, mountinfo string) (*fakeKernel, files) {
	t.Helper()
	k := &fakeKernel{root: t.TempDir()}
	k.put(t, "proc/self/mountinfo", mountinfo)
	if mountinfo == mountinfoV2 {
		k.put(t, "sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory hugetlb pids rdma\n")
		k.put(t, "sys/fs/cgroup/cgroup.subtree_control", "")
	} else {
		k.put(t, "sys/fs/cgroup/cpuset/cpuset.cpus", "0-3\n")
		k.put(t, "sys/fs/cgroup/cpuset/cpuset.mems", "0\n")
		for _, name := range []string{"cpu,cpuacct", "memory", "systemd", "mine", "unified", "pids"} {
			k.put(t, "sys/fs/cgroup/"+name+"/cgroup.procs", "1\n")
		}
	}
	return k, files{root: k.root, mkdir: k.mkdir, rmdir: k.rmdir, write: k.write, kill: k.kill}
}

// kill kills a process if still reports that it is the right one. The process leaves its cgroup.
func (k *fakeKernel) kill(pid int, still func() bool) error {
	if !still() {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.killed = append(k.killed, pid)
	return filepath.WalkDir(k.root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != "cgroup.procs" {
			return err
		}
		procs, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		left := slices.DeleteFunc(strings.Fields(string(procs)), func(p string) bool { return p == strconv.Itoa(pid) })
		return os.WriteFile(path, []byte(strings.Join(left, "\n")), 0o600)
	})
}

func (k *fakeKernel) put(t *testing.T, path, content string) {
	t.Helper()
	path = filepath.Join(k.root, path)
	check(t, os.MkdirAll(filepath.Dir(path), 0o700))
	check(t, os.WriteFile(path, []byte(content), 0o600))
}

// get reads a file below /sys/fs/cgroup, "" if it is missing.
func (k *fakeKernel) get(path string) string {
	data, err := os.ReadFile(filepath.Join(k.root, "sys/fs/cgroup", path))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

func (k *fakeKernel) has(path string) bool {
	_, err := os.Stat(filepath.Join(k.root, "sys/fs/cgroup", path))
	return err == nil
}

// birth has the files of a new cgroup, by controller.
var birth = map[string][]string{
	"cpu,cpuacct": {"cpu.shares=1024", "cpu.cfs_period_us=100000", "cpu.cfs_quota_us=-1"},
	"memory":      {"memory.limit_in_bytes=9223372036854771712"},
	"cpuset":      {"cpuset.cpus=", "cpuset.mems="},
	"v2 cpu":      {"cpu.weight=100", "cpu.max=max 100000"},
	"pids":        {"pids.max=max"},
	"v2 memory":   {"memory.max=max", "memory.min=0", "memory.low=0"},
	"v2 hugetlb":  {"hugetlb.2MB.max=max", "hugetlb.1GB.max=max"},
	"hugetlb":     {"hugetlb.2MB.limit_in_bytes=9223372036852678656", "hugetlb.1GB.limit_in_bytes=9223372035781033984"},
	"v2 pids":     {"pids.max=max"},
}

func (k *fakeKernel) mkdir(path string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	born := []string{"cgroup.procs="}
	parent, err := os.ReadFile(filepath.Join(filepath.Dir(path), "cgroup.subtree_control"))
	if err == nil {
		born = append(born, "cgroup.controllers="+string(parent), "cgroup.subtree_control=")
		for controller := range strings.FieldsSeq(string(parent)) {
			born = append(born, birth["v2 "+controller]...)
		}
	} else {
		for name, fresh := range birth {
			if strings.HasPrefix(path, filepath.Join(k.root, "sys/fs/cgroup", name)+"/") {
				born = append(born, fresh...)
			}
		}
	}
	for _, file := range born {
		name, value, _ := strings.Cut(file, "=")
		if err := os.WriteFile(filepath.Join(path, name), []byte(value), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (k *fakeKernel) rmdir(path string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	procs, _ := os.ReadFile(filepath.Join(path, "cgroup.procs"))
	if len(procs) > 0 || slices.ContainsFunc(entries, os.DirEntry.IsDir) {
		return &os.PathError{Op: "rmdir", Path: path, Err: unix.EBUSY}
	}
	if k.busy > 0 {
		k.busy--
		return &os.PathError{Op: "rmdir", Path: path, Err: unix.EBUSY}
	}
	return os.RemoveAll(path)
}

func (k *fakeKernel) write(path, value string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	old, err := os.ReadFile(path)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: unix.EPERM}
	}
	if filepath.Base(path) == "cgroup.subtree_control" {
		controller := strings.TrimPrefix(value, "+")
		dir := filepath.Dir(path)
		available, _ := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
		procs, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		switch {
		case !slices.Contains(strings.Fields(string(available)), controller):
			return unix.ENOENT
		case len(procs) > 0:
			return unix.EBUSY
		}
		value = strings.TrimSpace(string(old) + " " + controller)
	}
	return os.WriteFile(path, []byte(value), 0o600)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantError(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("got error %v, want one with %q", err, part)
	}
}

// wantFiles compares files below /sys/fs/cgroup.
func (k *fakeKernel) wantFiles(t *testing.T, want map[string]string) {
	t.Helper()
	for path, content := range want {
		if got := k.get(path); got != content {
			t.Errorf("%s is %q, want %q", path, got, content)
		}
	}
}

// tree returns the cgroups in any hierarchy whose paths contain name.
func (k *fakeKernel) tree(t *testing.T, name string) []string {
	t.Helper()
	var found []string
	check(t, filepath.WalkDir(filepath.Join(k.root, "sys/fs/cgroup"), func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() && strings.Contains(path, name) {
			found = append(found, path)
		}
		return err
	}))
	return found
}

package kernel

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Cgroup has the counters of a cgroup with everything below it. Each is nil if the kernel does not
// count it, and each limit if there is none. Times are in nanoseconds, sizes in bytes.
type Cgroup struct {
	// CPU, User and System are CPU times.
	CPU, User, System *uint64
	// Periods are the periods in which a CPU limit was in force, Throttled those in which it was
	// reached, and ThrottledTime is how long tasks waited then.
	Periods, Throttled, ThrottledTime *uint64

	// Memory is all memory, Resident the memory of programs, Cache the page cache, Mapped the part of
	// it that is mapped, and Inactive the part that can be dropped first.
	Memory, Resident, Cache, Mapped, Inactive *uint64
	// Peak is the most that Memory ever was.
	Peak, Swap                  *uint64
	PageFaults, MajorPageFaults *uint64
	// LimitHits is how often Memory reached its limit, and OOMKills how many processes were killed for
	// it.
	LimitHits, OOMKills    *uint64
	MemoryLimit, SwapLimit *uint64

	// Processes and Tasks count processes, and processes with their threads.
	Processes, Tasks, TasksLimit *uint64

	// Shares is the CPU request, as in cgroup v1. Quota is the CPU limit, in microseconds of each
	// Period.
	Shares, Quota, Period *uint64

	Devices []Device

	CPUPressure, MemoryPressure, IOPressure *Pressure
}

// Device counts what a cgroup read from a block device and wrote to it.
type Device struct {
	// Number is the number of the device, "8:0".
	Number string
	// ReadBytes and WrittenBytes are in bytes; Reads and Writes count operations.
	ReadBytes, WrittenBytes, Reads, Writes uint64
}

// WorkingSet returns the memory that cannot be dropped at once, nil if it is unknown.
func (c *Cgroup) WorkingSet() *uint64 {
	if c.Memory == nil || c.Inactive == nil {
		return nil
	}
	return new(*c.Memory - min(*c.Memory, *c.Inactive))
}

// Use returns the CPU time and the memory of a cgroup, named by its path ("/wardlet"). The other
// counters are nil. Everything is nil for a cgroup that does not exist.
func (k *Kernel) Use(cgroup string) Cgroup {
	c := Cgroup{}
	if k.unified != "" {
		k.useV2(cgroup, &c)
	} else {
		k.useV1(cgroup, &c)
	}
	if c.Memory != nil && c.Swap == nil && k.HasNoSwap() {
		c.Swap, c.SwapLimit = new(uint64), new(uint64)
	}
	return c
}

// HasNoSwap reports whether the machine has no swap. Then a cgroup uses none, also if the kernel
// does not count it.
func (k *Kernel) HasNoSwap() bool {
	swaps, err := text(k.proc("swaps"))
	return err == nil && strings.HasPrefix(swaps, "Filename") && strings.Count(strings.TrimSpace(swaps), "\n") == 0 // only titles
}

// All returns all counters of a cgroup.
func (k *Kernel) All(cgroup string) Cgroup { return k.Complete(cgroup, Cgroup{}) }

// Complete returns all counters of a cgroup. Those of Use are c's, if c has any. It returns c if the
// path is empty, which stands for an unknown cgroup; the root cgroup is "/".
func (k *Kernel) Complete(cgroup string, c Cgroup) Cgroup {
	if cgroup == "" {
		return c
	}
	if c.CPU == nil && c.Memory == nil {
		c = k.Use(cgroup)
	}
	if k.unified != "" {
		k.restV2(cgroup, &c)
	} else {
		k.restV1(cgroup, &c)
	}
	return c
}

// reader returns a function that reads files of a directory, and returns an empty text for a file
// that cannot be read. A file of a missing controller, or of a cgroup that is removed meanwhile, is
// no failure.
func reader(dir ...string) func(file string) string {
	path := filepath.Join(dir...)
	if dir[0] == "" {
		return func(string) string { return "" } // the controller is not mounted
	}
	return func(file string) string {
		content, err := text(filepath.Join(path, file))
		if err != nil {
			return ""
		}
		return content
	}
}

// point returns the mount point in which the cgroups of containers are listed.
func (k *Kernel) point() string {
	for _, controller := range []string{"memory", "cpuacct", "cpu", "pids"} {
		if k.unified == "" && k.controllers[controller] != "" {
			return k.controllers[controller]
		}
	}
	return k.unified
}

// Pods returns the paths of the cgroups of pods below a root cgroup, by UID. It knows the names that
// a kubelet uses with cgroupfs and with systemd.
func (k *Kernel) Pods(root string) map[types.UID]string {
	pods := map[types.UID]string{}
	point := k.point()
	if point == "" {
		return pods
	}
	find := func(cgroup string) (others []string) {
		for _, name := range directories(filepath.Join(point, cgroup)) {
			if uid := podUID(filepath.Base(cgroup), name); uid != "" {
				pods[uid] = filepath.Join(cgroup, name)
			} else {
				others = append(others, name)
			}
		}
		return others
	}
	for _, name := range find(root) {
		if class := strings.TrimSuffix(name, slice); strings.HasSuffix(class, "burstable") || strings.HasSuffix(class, "besteffort") {
			find(filepath.Join(root, name))
		}
	}
	return pods
}

// slice ends the names of the cgroups that systemd makes.
const slice = ".slice"

// podUID returns the UID in the name of a pod's cgroup in its parent, empty for another name. The name
// of a slice begins with that of its parent.
func podUID(parent, name string) types.UID {
	name, isSlice := strings.CutSuffix(name, slice)
	if isSlice {
		name = strings.TrimPrefix(name, strings.TrimSuffix(parent, slice)+"-")
	}
	rest, ok := strings.CutPrefix(name, "pod")
	switch {
	case !ok:
		return ""
	case isSlice:
		return types.UID(strings.ReplaceAll(rest, "_", "-"))
	}
	return types.UID(rest)
}

// Exists reports whether a cgroup exists.
func (k *Kernel) Exists(cgroup string) bool {
	_, err := os.Lstat(filepath.Join(k.point(), cgroup))
	return err == nil
}

// monitor begins the name of a cgroup in which CRI-O's monitor of a container runs. The ID in it is
// that of the container.
const monitor = "crio-conmon-"

// Containers returns the paths of the cgroups in a pod's cgroup by container ID. The pod's sandbox is
// one of them.
func (k *Kernel) Containers(pod string) map[string]string {
	point := k.point()
	if point == "" || pod == "" {
		return nil
	}
	containers := map[string]string{}
	for _, name := range directories(filepath.Join(point, pod)) {
		if strings.HasPrefix(name, monitor) {
			continue
		}
		id := strings.TrimSuffix(name, ".scope")
		id = id[strings.LastIndexByte(id, '-')+1:]
		containers[id] = filepath.Join(pod, name)
	}
	return containers
}

// members returns the processes in a container's cgroup as in cgroup.procs. If there are none, it
// returns those of the cgroups one level down: crun moves the processes of a container there.
func (k *Kernel) members(cgroup string) string {
	point := k.point()
	if point == "" || cgroup == "" {
		return ""
	}
	dir := filepath.Join(point, cgroup)
	content, err := text(filepath.Join(dir, "cgroup.procs"))
	if err != nil || content != "" {
		return content
	}
	var all strings.Builder
	for _, name := range directories(dir) {
		if below, err := text(filepath.Join(dir, name, "cgroup.procs")); err == nil {
			all.WriteString(below)
		}
	}
	return all.String()
}

// Processes returns the number of processes in a container's cgroup, nil if there are none.
func (k *Kernel) Processes(cgroup string) *uint64 {
	content := k.members(cgroup)
	if content == "" {
		return nil
	}
	return lines(content)
}

// Member returns a process in a container's cgroup, 0 if there is none.
func (k *Kernel) Member(cgroup string) int {
	for line := range strings.Lines(k.members(cgroup)) {
		if pid, err := strconv.Atoi(strings.TrimSpace(line)); err == nil && pid > 0 {
			return pid
		}
	}
	return 0
}

// directories returns the names of the directories in a directory, none if it cannot be read.
func directories(path string) (names []string) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

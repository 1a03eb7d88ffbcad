package node

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wardlet/wardlet/core/internal/mountinfo"
)

// hierarchy is cgroup v1 or v2. Paths are paths of cgroups, such as "/wardlet/…".
type hierarchy interface {
	// points returns the mount points below which a cgroup may have a directory.
	points() []string
	// mount returns the mount point of a controller, empty if it is not mounted.
	mount(controller string) string
	// create creates a cgroup and its parents.
	create(path string) error
	// has reports whether a cgroup is complete: it exists wherever create creates it.
	has(path string) bool
	// stop stops what keeps a cgroup without processes in use. The kernel alone keeps none.
	stop(path string) error
	// limit sets the limits of a cgroup.
	limit(path string, l limits) error
	// limitPages sets the limits of huge pages, in bytes by page size; other pages cannot be used.
	limitPages(path string, pages map[int64]int64) error
	// reserve protects memory from being taken back: hard bytes in any case, soft bytes as long as there
	// is other memory.
	reserve(path string, hard, soft int64) error
	// reserved reads what reserve has set.
	reserved(path string) (hard, soft int64, err error)
	// limitsPIDs reports whether the number of processes of a cgroup can be limited.
	limitsPIDs() bool
	// limitsSwap reports whether the swap space of a cgroup can be limited.
	limitsSwap() bool
	// setShares only sets the CPU shares; shares reads them.
	setShares(path string, shares int64) error
	shares(path string) (int64, error)
}

// controllersV1 are the v1 hierarchies in which runtimes create cgroups for containers. Other
// hierarchies belong to other software.
var controllersV1 = []string{
	"blkio", "cpu", "cpuacct", "cpuset", "devices", "freezer", "hugetlb", "memory",
	"misc", "name=systemd", "net_cls", "net_prio", "perf_event", "pids", "rdma",
}

// detect detects the hierarchies that the runtime uses. These are the v1 hierarchies if they
// control CPU or memory, even if a v2 hierarchy is also mounted (a hybrid machine), else v2.
func detect(mounts []mountinfo.Mount, fs files) (hierarchy, error) {
	first := hierarchyV1{files: fs, at: map[string]string{}}
	var unified string
	for _, m := range mounts {
		point := filepath.Join(fs.root, m.Point)
		switch m.Type {
		case "cgroup":
			for _, controller := range controllersV1 {
				// The same hierarchy may be mounted several times.
				if first.at[controller] == "" && slices.Contains(m.Options, controller) {
					first.at[controller] = point
				}
			}
		case "cgroup2":
			if unified == "" {
				unified = point
			}
		}
	}
	cpu, memory := first.at["cpu"] != "", first.at["memory"] != ""
	if cpu || memory {
		first.unified = unified
		return first, missing(cpu, memory)
	}
	if unified == "" {
		return nil, errors.New("no cgroup file system is mounted: mount one at /sys/fs/cgroup")
	}
	available, err := os.ReadFile(filepath.Join(unified, "cgroup.controllers"))
	if err != nil {
		return nil, err
	}
	controllers := strings.Fields(string(available))
	return hierarchyV2{files: fs, point: unified, pids: slices.Contains(controllers, "pids")}, missing(slices.Contains(controllers, "cpu"), slices.Contains(controllers, "memory"))
}

func missing(cpu, memory bool) error {
	switch {
	case !cpu:
		return errors.New("the kernel has no cgroup controller for cpu here: enable CONFIG_CGROUP_SCHED, or mount or delegate the controller")
	case !memory:
		return errors.New("the kernel has no cgroup controller for memory here: add cgroup_enable=memory to its command line, or mount or delegate the controller")
	}
	return nil
}

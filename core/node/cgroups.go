package node

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/internal/cpu"
	"github.com/wardlet/wardlet/core/internal/mountinfo"
	"github.com/wardlet/wardlet/core/pod"
)

// Cgroups creates and removes the cgroups of pods.
type Cgroups struct {
	driver    Driver
	root      string
	files     files
	hierarchy hierarchy

	// mu prevents Ensure from creating a pod's cgroup while Remove removes empty parents.
	mu sync.Mutex
	// requested has the shares of burstable pods, because cgroup v2 stores only rounded values.
	requested map[types.UID]int64
}

// NewCgroups detects how cgroups are mounted. root is the cgroup of all pods, an absolute path that
// is not "/". It is created with the first pod and removed with the last.
func NewCgroups(driver Driver, root string) (*Cgroups, error) {
	return newCgroups(driver, root, kernelFiles())
}

func newCgroups(driver Driver, root string, fs files) (*Cgroups, error) {
	switch {
	case driver == DriverSystemd:
		return nil, errors.New(`the cgroup driver systemd is not supported yet: set cgroup_driver = "cgroupfs" in agent.toml and SystemdCgroup = false in the runtime's configuration`)
	case driver != DriverCgroupfs:
		return nil, fmt.Errorf("cgroup driver %q is not known: use %q", driver, DriverCgroupfs)
	case !path.IsAbs(root) || path.Clean(root) != root || root == "/":
		return nil, fmt.Errorf("cgroup root %q is not a clean absolute path below /", root)
	}
	mounts, err := mountinfo.Read(filepath.Join(fs.root, "proc/self/mountinfo"))
	if err != nil {
		return nil, err
	}
	h, err := detect(mounts, fs)
	if err != nil {
		return nil, fmt.Errorf("cgroups: %w", err)
	}
	return &Cgroups{driver: driver, root: root, files: fs, hierarchy: h, requested: map[types.UID]int64{}}, nil
}

// V2 reports whether the node has cgroup v2 only.
func (c *Cgroups) V2() bool {
	_, ok := c.hierarchy.(hierarchyV2)
	return ok
}

// Ensure creates the cgroup of p, sets its limits, and returns its name in the form for the
// runtime.
func (c *Cgroups) Ensure(p *v1.Pod) (parent string, err error) {
	if err := checkUID(p.UID); err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	class := pod.QOS(p)
	cgroup := path.Join(c.root, classDir(class), podPrefix+string(p.UID))
	if err := c.hierarchy.create(cgroup); err != nil {
		return "", err
	}
	l := limitsOf(p, class)
	if err := c.hierarchy.limit(cgroup, l); err != nil {
		return "", err
	}
	switch class {
	case v1.PodQOSBestEffort:
		err = c.hierarchy.setShares(path.Dir(cgroup), cpu.MinShares)
	case v1.PodQOSBurstable:
		if c.requested[p.UID] != l.shares {
			c.requested[p.UID] = l.shares
			err = c.shareBurstable()
		}
	}
	if err != nil {
		delete(c.requested, p.UID)
		return "", err
	}
	return Parent(c.driver, c.root, class, p.UID), nil
}

// Mount returns the directory of the machine's root cgroup for a controller, such as "memory", empty
// if the controller is not mounted.
func (c *Cgroups) Mount(controller string) string { return c.hierarchy.mount(controller) }

// PodDir returns the directory of a pod's cgroup for a controller, whether or not it exists. It is
// empty if the controller is not mounted.
func (c *Cgroups) PodDir(p *v1.Pod, controller string) string {
	point := c.hierarchy.mount(controller)
	if point == "" || checkUID(p.UID) != nil {
		return ""
	}
	return filepath.Join(point, c.root, classDir(pod.QOS(p)), podPrefix+string(p.UID))
}

// shareBurstable sets the shares of the cgroup of burstable pods to the sum of their requests. The
// caller must hold mu.
func (c *Cgroups) shareBurstable() error {
	class := path.Join(c.root, classDir(v1.PodQOSBurstable))
	uids, err := podsIn(filepath.Join(c.hierarchy.mount("cpu"), class))
	if err != nil || len(uids) == 0 {
		return err
	}
	var sum int64
	for _, uid := range uids {
		shares, known := c.requested[uid]
		if !known {
			shares, err = c.hierarchy.shares(path.Join(class, podPrefix+string(uid)))
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			if err != nil {
				return fmt.Errorf("read a cgroup: %w", err)
			}
		}
		sum += shares
	}
	return c.hierarchy.setShares(class, min(max(sum, cpu.MinShares), cpu.MaxShares))
}

// Pods lists the pods that have a cgroup in any hierarchy, ordered by UID.
func (c *Cgroups) Pods() ([]types.UID, error) {
	var all []types.UID
	for _, point := range c.hierarchy.points() {
		for _, class := range classDirs {
			uids, err := podsIn(filepath.Join(point, c.root, class))
			if err != nil {
				return nil, err
			}
			all = append(all, uids...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// podsIn lists the pods whose cgroups are in dir, which may be missing.
func podsIn(dir string) ([]types.UID, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("list cgroups: %w", err)
	}
	var uids []types.UID
	for _, entry := range entries {
		if uid, ok := strings.CutPrefix(entry.Name(), podPrefix); ok && uid != "" && entry.IsDir() {
			uids = append(uids, types.UID(uid))
		}
	}
	return uids, nil
}

func checkUID(uid types.UID) error {
	if uid == "" || strings.ContainsAny(string(uid), "/\x00") {
		return fmt.Errorf("UID %q cannot be the name of a cgroup: change metadata.uid", uid)
	}
	return nil
}

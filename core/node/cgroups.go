package node

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/internal/cpu"
	"github.com/wardlet/wardlet/core/internal/mountinfo"
	"github.com/wardlet/wardlet/core/pod"
)

// Cgroups creates and removes the cgroups of pods.
type Cgroups struct {
	// root is the cgroup of all pods in the form of cgroupfs, and kernel the hierarchy without systemd.
	root   string
	kernel hierarchy
	units  units
	bounds Bounds
	files  files
	driven atomic.Pointer[driven]

	// mu prevents Ensure from creating a pod's cgroup while Remove removes empty parents.
	mu sync.Mutex
	// ensured has what Ensure set, by pod, and recreated the pods whose cgroups were created again since
	// the last Refresh.
	ensured   map[types.UID]ensured
	recreated []types.UID
}

// driven is what depends on the driver.
type driven struct {
	naming    naming
	hierarchy hierarchy
}

func (c *Cgroups) naming() naming       { return c.driven.Load().naming }
func (c *Cgroups) hierarchy() hierarchy { return c.driven.Load().hierarchy }

// ensured is the cgroup of a pod, with the limits that were set. Their shares are kept because
// cgroup v2 stores only rounded values.
type ensured struct {
	class  v1.PodQOSClass
	limits limits
	// incomplete is true if Refresh could not set all of it.
	incomplete bool
}

// Bounds limits the cgroups of pods in addition to what each pod requests.
type Bounds struct {
	// MilliCPU is the CPU that all pods together get if other programs of the node want CPU, too. If
	// it is 0, the cgroup of all pods has no limits.
	MilliCPU int64
	// Memory, in bytes, and PIDs are the limits of all pods together. PodPIDs is the limit of
	// processes of one pod. 0 means no limit.
	Memory, PIDs, PodPIDs int64
	// ReserveMemory protects the memory that pods request. It needs cgroup v2.
	ReserveMemory bool
}

// NewCgroups detects how cgroups are mounted. root is the cgroup of all pods, an absolute path that
// is not "/". It is created with the first pod and removed with the last.
func NewCgroups(driver Driver, root string, b Bounds) (*Cgroups, error) {
	return newCgroups(driver, root, b, kernelFiles(), newSystemdUnits())
}

func newCgroups(driver Driver, root string, b Bounds, fs files, u units) (*Cgroups, error) {
	switch {
	case driver != DriverCgroupfs && driver != DriverSystemd:
		return nil, fmt.Errorf("cgroup driver %q is not known: use %q or %q", driver, DriverCgroupfs, DriverSystemd)
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
	if (b.PIDs > 0 || b.PodPIDs > 0) && !h.limitsPIDs() {
		return nil, errors.New("the kernel has no cgroup controller for pids here: leave out node.pod_pids_limit and pid of the reservations, or mount or delegate the controller")
	}
	if _, v2 := h.(hierarchyV2); b.ReserveMemory && !v2 {
		return nil, errors.New(`node.memory_reservation_policy = "TieredReservation" needs cgroup v2, and the node has v1: leave it out`)
	}
	c := &Cgroups{root: root, kernel: h, units: u, bounds: b, files: fs, ensured: map[types.UID]ensured{}}
	c.Use(driver)
	return c, nil
}

// Use sets the driver. The cgroups of pods that were created with another driver stay as they are,
// and are no longer known.
func (c *Cgroups) Use(driver Driver) {
	d := &driven{naming{driver, c.root}, c.kernel}
	if driver == DriverSystemd {
		d.hierarchy = slicesOf{c.kernel, c.units, c.V2()}
	}
	c.driven.Store(d)
}

// Driver returns the driver.
func (c *Cgroups) Driver() Driver { return c.naming().driver }

// V2 reports whether the node has cgroup v2 only.
func (c *Cgroups) V2() bool {
	_, ok := c.kernel.(hierarchyV2)
	return ok
}

// LimitsSwap reports whether the kernel can limit the swap space of a cgroup. With cgroup v2, the
// cgroup of the agent itself shows this, because the root has no limits.
func (c *Cgroups) LimitsSwap() bool { return c.kernel.limitsSwap() }

// Owner returns the pod to which a cgroup belongs, as the kernel names it, and the path of the cgroup
// below that of the pod, empty for the pod's own. ok is false for a cgroup of no pod.
func (c *Cgroups) Owner(cgroup string) (uid types.UID, below string, ok bool) {
	for _, class := range classes {
		rest, in := strings.CutPrefix(cgroup, c.naming().class(class)+"/")
		if !in {
			continue
		}
		name, below, _ := strings.Cut(rest, "/")
		if uid, ok := c.naming().uid(class, name); ok {
			return uid, below, true
		}
	}
	return "", "", false
}

// Ensure creates the cgroup of p, sets its limits, and returns its name in the form for the
// runtime.
func (c *Cgroups) Ensure(p *v1.Pod) (parent string, err error) {
	if err := c.naming().checkUID(p.UID); err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	class := pod.QOS(p)
	l := limitsOf(p, class)
	l.pids = c.bounds.PodPIDs
	if err := c.set(p.UID, ensured{class: class, limits: l}); err != nil {
		return "", err
	}
	return Parent(c.naming().driver, c.naming().root, class, p.UID), nil
}

// set creates the cgroup of a pod and sets its limits and those of its parents. The caller must hold
// mu.
func (c *Cgroups) set(uid types.UID, e ensured) (err error) {
	defer func() {
		if err != nil {
			delete(c.ensured, uid)
		}
	}()
	cgroup := c.naming().pod(e.class, uid)
	_, known := c.ensured[uid]
	gone := known && !c.hierarchy().has(cgroup)
	fresh := !exists(filepath.Join(c.hierarchy().mount("cpu"), c.naming().path()))
	if err := c.hierarchy().create(cgroup); err != nil {
		return err
	}
	if gone && !slices.Contains(c.recreated, uid) {
		c.recreated = append(c.recreated, uid)
	}
	if fresh {
		if err := c.limitRoot(); err != nil {
			return err
		}
	}
	// A kubelet creates both classes when it starts; here they come with the first pod.
	for _, class := range []v1.PodQOSClass{v1.PodQOSBurstable, v1.PodQOSBestEffort} {
		if cgroup := c.naming().class(class); !exists(filepath.Join(c.hierarchy().mount("cpu"), cgroup)) {
			if err := c.hierarchy().create(cgroup); err != nil {
				return err
			}
		}
	}
	if err := c.hierarchy().limit(cgroup, e.limits); err != nil {
		return err
	}
	if err := c.hierarchy().limitPages(cgroup, e.limits.hugePages); err != nil {
		return err
	}
	if err := c.reserveOf(cgroup, e); err != nil {
		return err
	}
	was := c.ensured[uid]
	if was.incomplete {
		was = ensured{}
	}
	c.ensured[uid] = e
	if was.limits.request != e.limits.request {
		if err := c.reserveMemory(); err != nil {
			return err
		}
	}
	switch {
	case e.class == v1.PodQOSBestEffort:
		return c.hierarchy().setShares(c.naming().class(e.class), cpu.MinShares)
	case e.class == v1.PodQOSBurstable && was.limits.shares != e.limits.shares:
		return c.shareBurstable()
	}
	return nil
}

// limitRoot sets the limits of the cgroup of all pods.
func (c *Cgroups) limitRoot() error {
	if c.bounds.MilliCPU == 0 {
		return nil
	}
	return c.hierarchy().limit(c.naming().path(), limits{shares: cpu.Shares(c.bounds.MilliCPU), memory: c.bounds.Memory, pids: c.bounds.PIDs})
}

// Refresh sets again what other programs may have changed: the limits of all pods together, the
// shares of the classes, and cgroups of pods that were removed. It returns the pods whose cgroups it
// or Ensure created again since the last Refresh.
func (c *Cgroups) Refresh() (recreated []types.UID, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, uid := range slices.Sorted(maps.Keys(c.ensured)) {
		e := c.ensured[uid]
		if !e.incomplete && c.hierarchy().has(c.naming().pod(e.class, uid)) {
			continue
		}
		e.incomplete = false
		if failure := c.set(uid, e); failure != nil {
			err = errors.Join(err, fmt.Errorf("cgroup of pod %s: %w", uid, failure))
			e.incomplete = true
			c.ensured[uid] = e
		}
	}
	recreated, c.recreated = c.recreated, nil
	at := func(class v1.PodQOSClass) bool {
		return exists(filepath.Join(c.hierarchy().mount("cpu"), c.naming().class(class)))
	}
	if at(v1.PodQOSGuaranteed) {
		err = errors.Join(err, c.limitRoot(), c.reserveMemory())
	}
	if at(v1.PodQOSBestEffort) {
		err = errors.Join(err, c.hierarchy().setShares(c.naming().class(v1.PodQOSBestEffort), cpu.MinShares))
	}
	return recreated, errors.Join(err, c.shareBurstable())
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Root returns the path of the cgroup of all pods, as the kernel names it.
func (c *Cgroups) Root() string { return c.naming().path() }

// shareBurstable sets the shares of the cgroup of burstable pods to the sum of their requests. The
// caller must hold mu.
func (c *Cgroups) shareBurstable() error {
	class := c.naming().class(v1.PodQOSBurstable)
	uids, err := c.podsIn(c.hierarchy().mount("cpu"), v1.PodQOSBurstable)
	if err != nil || len(uids) == 0 {
		return err
	}
	var sum int64
	for _, uid := range uids {
		if e, known := c.ensured[uid]; known {
			sum += e.limits.shares
			continue
		}
		shares, err := c.hierarchy().shares(c.naming().pod(v1.PodQOSBurstable, uid))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read a cgroup: %w", err)
		}
		sum += shares
	}
	return c.hierarchy().setShares(class, min(max(sum, cpu.MinShares), cpu.MaxShares))
}

// Pods lists the pods that have a cgroup in any hierarchy, ordered by UID.
func (c *Cgroups) Pods() ([]types.UID, error) {
	var all []types.UID
	for _, point := range c.hierarchy().points() {
		for _, class := range classes {
			uids, err := c.podsIn(point, class)
			if err != nil {
				return nil, err
			}
			all = append(all, uids...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// podsIn lists the pods of a class that have a cgroup below a mount point.
func (c *Cgroups) podsIn(point string, class v1.PodQOSClass) ([]types.UID, error) {
	entries, err := os.ReadDir(filepath.Join(point, c.naming().class(class)))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("list cgroups: %w", err)
	}
	var uids []types.UID
	for _, entry := range entries {
		if uid, ok := c.naming().uid(class, entry.Name()); ok && entry.IsDir() {
			uids = append(uids, uid)
		}
	}
	return uids, nil
}

// checkUID refuses a UID that cannot be a part of the name of a cgroup.
func (n naming) checkUID(uid types.UID) error {
	switch {
	case uid == "" || strings.ContainsAny(string(uid), "/\x00"):
		return fmt.Errorf("UID %q cannot be the name of a cgroup: change metadata.uid", uid)
	case n.driver == DriverSystemd && strings.IndexFunc(string(uid), isNoUnitName) >= 0:
		return fmt.Errorf("UID %q cannot be the name of a slice of systemd: change metadata.uid to letters, digits, dots and dashes", uid)
	}
	return nil
}

func isNoUnitName(r rune) bool {
	letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	return !letter && (r < '0' || r > '9') && r != '-' && r != '.'
}

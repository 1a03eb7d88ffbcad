package node

import (
	"path"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Driver is the component that creates cgroups, which determines their names in the runtime.
type Driver string

// The drivers of runtimes.
const (
	DriverCgroupfs Driver = "cgroupfs"
	DriverSystemd  Driver = "systemd"
)

// podPrefix starts the name of every pod's cgroup.
const podPrefix = "pod"

// Parent returns the cgroup of a pod below root (absolute) in the form for the driver's runtime: a
// path, or the name of a slice in which dashes separate the levels.
func Parent(driver Driver, root string, class v1.PodQOSClass, uid types.UID) string {
	p := path.Join(root, classDir(class), podPrefix+string(uid))
	if driver != DriverSystemd {
		return p
	}
	parts := strings.Split(strings.ReplaceAll(strings.TrimPrefix(p, "/"), "-", "_"), "/")
	return strings.Join(parts, "-") + ".slice"
}

// classDir returns the cgroup of a QoS class below the root.
func classDir(class v1.PodQOSClass) string {
	switch class {
	case v1.PodQOSBurstable:
		return "burstable"
	case v1.PodQOSBestEffort:
		return "besteffort"
	default:
		return ""
	}
}

// classDirs are all directories below the root that may contain pods.
var classDirs = []string{"burstable", "besteffort", ""}

// Owner returns the pod to which a cgroup belongs, as the kernel names it, and the path of the
// cgroup below that of the pod, empty for the pod's own. ok is false for a cgroup of no pod.
func (c *Cgroups) Owner(cgroup string) (uid types.UID, below string, ok bool) {
	rest, ok := strings.CutPrefix(cgroup, c.root+"/")
	if !ok {
		return "", "", false
	}
	for _, class := range classDirs {
		inClass, ok := rest, true
		if class != "" {
			inClass, ok = strings.CutPrefix(rest, class+"/")
		}
		name, below, _ := strings.Cut(inClass, "/")
		if uid, isPod := strings.CutPrefix(name, podPrefix); ok && isPod && uid != "" {
			return types.UID(uid), below, true
		}
	}
	return "", "", false
}

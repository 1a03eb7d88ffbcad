package node

import (
	"path"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Driver says who makes cgroups, and so how the runtime wants them named.
type Driver string

// The drivers a runtime knows.
const (
	DriverCgroupfs Driver = "cgroupfs"
	DriverSystemd  Driver = "systemd"
)

// podPrefix starts the name of every pod's cgroup.
const podPrefix = "pod"

// Parent is the cgroup of a pod below root (absolute) as the driver's runtime
// wants it: a path, or the name of a slice in which dashes lead downwards.
func Parent(driver Driver, root string, class v1.PodQOSClass, uid types.UID) string {
	p := path.Join(root, classDir(class), podPrefix+string(uid))
	if driver != DriverSystemd {
		return p
	}
	parts := strings.Split(strings.ReplaceAll(strings.TrimPrefix(p, "/"), "-", "_"), "/")
	return strings.Join(parts, "-") + ".slice"
}

// classDir is the cgroup of a QoS class below the root.
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

// classDirs are all places below the root in which pods may lie.
var classDirs = []string{"burstable", "besteffort", ""}

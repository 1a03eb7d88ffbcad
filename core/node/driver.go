package node

import (
	"path"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Driver is the component that creates cgroups, which determines their names.
type Driver string

// The drivers of runtimes.
const (
	DriverCgroupfs Driver = "cgroupfs"
	DriverSystemd  Driver = "systemd"
)

// podPrefix starts the name of every pod's cgroup.
const podPrefix = "pod"

// classes are the classes whose cgroups may contain pods. Guaranteed pods are directly in the root.
var classes = []v1.PodQOSClass{v1.PodQOSBurstable, v1.PodQOSBestEffort, v1.PodQOSGuaranteed}

// Parent returns the cgroup of a pod below root (absolute) in the form for the driver's runtime: a
// path, or the name of a slice in which dashes separate the levels.
func Parent(driver Driver, root string, class v1.PodQOSClass, uid types.UID) string {
	cgroup := naming{driver, root}.pod(class, uid)
	if driver == DriverSystemd {
		return path.Base(cgroup)
	}
	return cgroup
}

// naming has the names of the cgroups of pods, as paths below the mount point of a hierarchy. With
// cgroupfs they are "/wardlet/burstable/podUID", with systemd
// "/wardlet.slice/wardlet-burstable.slice/wardlet-burstable-podUID.slice".
type naming struct {
	driver Driver
	// root is the cgroup of all pods in the form of cgroupfs.
	root string
}

// class returns the cgroup of a class, which is the root for guaranteed pods.
func (n naming) class(class v1.PodQOSClass) string { return n.path(classDir(class)) }

func (n naming) pod(class v1.PodQOSClass, uid types.UID) string {
	return n.path(classDir(class), podPrefix+string(uid))
}

func (n naming) path(below ...string) string {
	p := path.Join(append([]string{n.root}, below...)...)
	if n.driver != DriverSystemd {
		return p
	}
	slices, name := "", ""
	for part := range strings.SplitSeq(strings.TrimPrefix(p, "/"), "/") {
		if name != "" {
			name += "-"
		}
		name += strings.ReplaceAll(part, "-", "_")
		slices += "/" + name + ".slice"
	}
	return slices
}

// uid returns the pod whose cgroup has this name in the cgroup of a class. A slice has "_" for each
// "-" of a UID, and UIDs have no "_".
func (n naming) uid(class v1.PodQOSClass, name string) (uid types.UID, ok bool) {
	prefix, suffix := podPrefix, ""
	if n.driver == DriverSystemd {
		prefix = strings.TrimSuffix(path.Base(n.class(class)), sliceSuffix) + "-" + podPrefix
		suffix = sliceSuffix
	}
	name, isPod := strings.CutPrefix(name, prefix)
	name, whole := strings.CutSuffix(name, suffix)
	if n.driver == DriverSystemd {
		name = strings.ReplaceAll(name, "_", "-")
	}
	return types.UID(name), isPod && whole && name != ""
}

// sliceSuffix ends the name of every slice.
const sliceSuffix = ".slice"

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

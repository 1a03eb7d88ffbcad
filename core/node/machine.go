package node

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/nodedeclaredfeatures/features/restartallcontainers"

	"github.com/wardlet/wardlet/core/internal/cpu"
)

// Description has the properties of a node beyond its machine.
type Description struct {
	Name string
	// Labels are added to the labels of every node. Taints and Extended are complete: taints, and
	// resources that the operator defines.
	Labels   map[string]string
	Taints   []v1.Taint
	Extended v1.ResourceList
	// MaxPods is the maximum number of pods.
	MaxPods int
	// Reserved is subtracted from the resources of the machine: pods cannot request it.
	Reserved v1.ResourceList
	// Storage is a path on the file system of the pods; it need not exist yet.
	Storage string
}

// Machine returns a node object that describes the node as it is now, without properties that
// change by themselves. Pods may use all resources of the machine that are not reserved.
func Machine(d *Description) (*v1.Node, error) {
	memory, err := Memory()
	if err != nil {
		return nil, err
	}
	storage, err := fileSystemSize(d.Storage)
	if err != nil {
		return nil, err
	}
	labels := map[string]string{
		v1.LabelHostname: d.Name, v1.LabelOSStable: runtime.GOOS, v1.LabelArchStable: runtime.GOARCH,
	}
	maps.Copy(labels, d.Labels)
	has := v1.ResourceList{
		v1.ResourceCPU:              *resource.NewQuantity(int64(len(cpu.Online())), resource.DecimalSI),
		v1.ResourceMemory:           *resource.NewQuantity(memory, resource.BinarySI),
		v1.ResourceEphemeralStorage: *resource.NewQuantity(storage, resource.BinarySI),
		v1.ResourcePods:             *resource.NewQuantity(int64(d.MaxPods), resource.DecimalSI),
	}
	pages, inPages, err := hugePages("/")
	if err != nil {
		return nil, err
	}
	maps.Copy(has, pages)
	maps.Copy(has, d.Extended)
	reserved := d.Reserved
	if inPages > 0 { // memory that can be used only as huge pages
		reserved = v1.ResourceList{}
		maps.Copy(reserved, d.Reserved)
		all := reserved[v1.ResourceMemory]
		all.Add(*resource.NewQuantity(inPages, resource.BinarySI))
		reserved[v1.ResourceMemory] = all
	}
	free, err := allocatable(has, reserved)
	if err != nil {
		return nil, err
	}
	// A scheduler binds pods that need one of these features only to nodes that declare it.
	return &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: d.Name, Labels: labels},
		Spec:       v1.NodeSpec{Taints: d.Taints},
		Status:     v1.NodeStatus{Capacity: has, Allocatable: free, DeclaredFeatures: []string{restartallcontainers.RestartAllContainersOnContainerExits}},
	}, nil
}

// allocatable returns the resources of a machine that are not reserved.
func allocatable(has, reserved v1.ResourceList) (v1.ResourceList, error) {
	free := has.DeepCopy()
	for _, name := range slices.Sorted(maps.Keys(reserved)) {
		left, amount := free[name], reserved[name]
		left.Sub(amount)
		if left.Sign() <= 0 {
			all := has[name]
			return nil, overReserved(string(name), amount.String(), all.String())
		}
		free[name] = left
	}
	return free, nil
}

func overReserved(name, reserved, has string) error {
	return fmt.Errorf("%s of %s are reserved for other programs than pods, and the machine has %s: reserve less in node.system_reserved and node.kube_reserved", reserved, name, has)
}

// UnreservedPIDs returns the number of process IDs of the machine that are not reserved. The kernel
// has limits of IDs and of tasks; the lower one counts, as with a kubelet.
func UnreservedPIDs(reserved int64) (int64, error) {
	ids, err := number("/proc/sys/kernel/pid_max")
	if err != nil {
		return 0, fmt.Errorf("read the number of process IDs: %w", err)
	}
	tasks, err := number("/proc/sys/kernel/threads-max")
	if err != nil {
		return 0, fmt.Errorf("read how many tasks the kernel allows: %w", err)
	}
	has := min(ids, tasks)
	if reserved >= has {
		return 0, overReserved("pid", strconv.FormatInt(reserved, 10), strconv.FormatInt(has, 10))
	}
	return has - reserved, nil
}

// Memory returns the machine's memory in bytes.
func Memory() (int64, error) {
	info, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, fmt.Errorf("reading the node's memory: %w", err)
	}
	return memTotal(string(info))
}

// SwapCapacity returns the machine's swap space in bytes.
func SwapCapacity() (int64, error) {
	info, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, fmt.Errorf("read the node's swap space: %w", err)
	}
	return meminfo(string(info), "SwapTotal")
}

func memTotal(info string) (int64, error) {
	var kib int64
	if _, err := fmt.Sscanf(info, "MemTotal: %d kB", &kib); err != nil {
		return 0, fmt.Errorf("reading the node's memory: /proc/meminfo does not begin with MemTotal: %w", err)
	}
	return kib << 10, nil
}

// meminfo returns a value of /proc/meminfo in bytes.
func meminfo(info, name string) (int64, error) {
	_, rest, _ := strings.Cut("\n"+info, "\n"+name+":")
	var kib int64
	if _, err := fmt.Sscanf(rest, " %d kB", &kib); err != nil {
		return 0, fmt.Errorf("reading the node's memory: no %s in /proc/meminfo: %w", name, err)
	}
	return kib << 10, nil
}

// fileSystemSize returns the size, in bytes, of the file system for path, which need not exist yet.
func fileSystemSize(path string) (int64, error) {
	for {
		var st unix.Statfs_t
		err := unix.Statfs(path, &st)
		if up := filepath.Dir(path); errors.Is(err, fs.ErrNotExist) && up != path {
			path = up
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("reading the size of the file system of %s: %w", path, err)
		}
		return int64(st.Blocks) * int64(st.Bsize), nil //nolint:unconvert // the types differ by platform; no disk is that large
	}
}

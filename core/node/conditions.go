package node

import (
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The limits for pressure on the node: a kubelet's hard eviction thresholds.
const (
	// minMemory is the minimum available memory, in bytes.
	minMemory = 100 << 20
	// minDisk and minInodes are the minimum free shares of the pods' file system, in percent.
	minDisk   = 10
	minInodes = 5
)

// Pressure describes the resources that are running out; an empty string means no pressure.
type Pressure struct{ Memory, Disk string }

// PressureNow checks the machine's memory and the file system that holds path. Values that cannot
// be read are ignored.
func PressureNow(path string) Pressure {
	var p Pressure
	if info, err := os.ReadFile("/proc/meminfo"); err == nil {
		if free, err := memAvailable(string(info)); err == nil && free < minMemory {
			p.Memory = fmt.Sprintf("less than %d MiB of memory are available", minMemory>>20)
		}
	}
	var fs unix.Statfs_t
	if unix.Statfs(path, &fs) == nil && fs.Blocks > 0 {
		switch {
		case fs.Bavail*100 < fs.Blocks*minDisk:
			p.Disk = fmt.Sprintf("less than %d %% of the file system of %s is free", minDisk, path)
		case fs.Files > 0 && fs.Ffree*100 < fs.Files*minInodes:
			p.Disk = fmt.Sprintf("less than %d %% of the inodes of the file system of %s are free", minInodes, path)
		}
	}
	return p
}

// SetConditions sets the conditions of a node. notReady is the reason why pods cannot run, empty if
// they can. A condition with an unchanged status keeps its transition time.
func SetConditions(st *v1.NodeStatus, notReady string, p Pressure, now metav1.Time) {
	set := func(kind v1.NodeConditionType, is bool, reason, message string) {
		c := v1.NodeCondition{Type: kind, Status: v1.ConditionFalse, Reason: reason, Message: message, LastTransitionTime: now}
		if is {
			c.Status = v1.ConditionTrue
		}
		i := slices.IndexFunc(st.Conditions, func(c v1.NodeCondition) bool { return c.Type == kind })
		switch {
		case i < 0:
			st.Conditions = append(st.Conditions, c)
		default:
			if old := &st.Conditions[i]; old.Status == c.Status {
				c.LastTransitionTime = old.LastTransitionTime
			}
			st.Conditions[i] = c
		}
	}
	pressure := func(kind v1.NodeConditionType, why, low, well, enough string) {
		if why == "" {
			set(kind, false, well, enough)
			return
		}
		set(kind, true, low, why)
	}
	pressure(v1.NodeMemoryPressure, p.Memory, "KubeletHasInsufficientMemory", "KubeletHasSufficientMemory", "kubelet has sufficient memory available")
	pressure(v1.NodeDiskPressure, p.Disk, "KubeletHasDiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure")
	// A kubelet has no threshold for process IDs unless one is configured.
	set(v1.NodePIDPressure, false, "KubeletHasSufficientPID", "kubelet has sufficient PID available")
	if notReady != "" {
		set(v1.NodeReady, false, "KubeletNotReady", notReady)
	} else {
		set(v1.NodeReady, true, "KubeletReady", "kubelet is posting ready status")
	}
}

package threshold

import (
	"math"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Signal is the name of something that can run out on the node.
type Signal string

// The signals. Amounts of memory and disk space are in bytes. NodeFS is the file system of the pods'
// directories, ImageFS is that of the runtime's images.
const (
	MemoryAvailable   Signal = "memory.available"
	NodeFSAvailable   Signal = "nodefs.available"
	NodeFSInodesFree  Signal = "nodefs.inodesFree"
	ImageFSAvailable  Signal = "imagefs.available"
	ImageFSInodesFree Signal = "imagefs.inodesFree"
	PIDAvailable      Signal = "pid.available"

	// AllocatableMemoryAvailable is the memory that is left of what all pods together may use. Its
	// threshold cannot be configured; see WithAllocatable.
	AllocatableMemoryAvailable Signal = "allocatableMemory.available"
)

// WithAllocatable adds the hard threshold of MemoryAvailable for AllocatableMemoryAvailable, as a
// kubelet does where all pods together have a limit of memory.
func WithAllocatable(all []Threshold) []Threshold {
	for i := range all {
		if all[i].Signal == MemoryAvailable && all[i].Hard() {
			more := all[i]
			more.Signal = AllocatableMemoryAvailable
			return slices.Insert(slices.Clone(all), i+1, more)
		}
	}
	return all
}

// Signals returns the signals that can be configured, in the order in which eviction handles them.
func Signals() []Signal {
	return []Signal{MemoryAvailable, NodeFSAvailable, NodeFSInodesFree, ImageFSAvailable, ImageFSInodesFree, PIDAvailable}
}

// DefaultHard returns a kubelet's hard thresholds.
func DefaultHard() map[string]string {
	return map[string]string{
		string(MemoryAvailable): "100Mi", string(NodeFSAvailable): "10%", string(NodeFSInodesFree): "5%",
		string(ImageFSAvailable): "15%", string(ImageFSInodesFree): "5%",
	}
}

// Value is an amount of what a signal measures.
type Value struct {
	// Quantity is a fixed amount; nil for a share.
	Quantity *resource.Quantity
	// Share is a share of the capacity, 0.1 for 10 %. It is used if Quantity is nil. It has 32 bits as
	// in a kubelet, so that both compute the same amount.
	Share float32
}

// Of returns the amount for a capacity. A share is rounded down.
func (v Value) Of(capacity int64) resource.Quantity {
	if v.Quantity != nil {
		return v.Quantity.DeepCopy()
	}
	return *resource.NewQuantity(int64(float64(capacity)*float64(v.Share)), resource.BinarySI)
}

// String returns the value as in agent.toml, a percentage with at most four decimals.
func (v Value) String() string {
	if v.Quantity != nil {
		return v.Quantity.String()
	}
	return strconv.FormatFloat(math.Round(float64(v.Share)*1e6)/1e4, 'f', -1, 64) + "%"
}

// Threshold is met while less than Value is available.
type Threshold struct {
	Signal Signal
	Value  Value
	// Grace is for how long a soft threshold must be met before pods are evicted. It is 0 for a hard
	// threshold.
	Grace time.Duration
	// Reclaim is how much more than Value must be available before a threshold that was met is no
	// longer met; nil for nothing more.
	Reclaim *Value
}

// Hard reports whether pods are evicted as soon as the threshold is met.
func (t *Threshold) Hard() bool { return t.Grace == 0 }

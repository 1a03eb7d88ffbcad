// Package cpu converts amounts of CPU to the kernel's values for a cgroup, as a kubelet does, and lists
// the CPUs of the machine. Comes in: thousandths of a CPU; lists in /sys. Goes out: shares, a quota, a
// weight; numbers of CPUs. It owns no goroutine.
package cpu

const (
	// Period is the period of a quota, in µs.
	Period = 100_000
	// MinShares is the minimum of a cgroup's shares.
	MinShares = 2
	// MaxShares is the maximum of a cgroup's shares.
	MaxShares = 262144

	sharesPerCPU = 1024
	minQuota     = 1_000 // µs
	maxWeight    = 10_000
	// maxMilli is more than any machine has, and still accepted by the kernel.
	maxMilli = 1_000_000_000
)

// Shares returns the shares of a cgroup that requests milli, in the units of cgroup v1: from
// MinShares to MaxShares.
func Shares(milli int64) int64 {
	return min(max(min(milli, maxMilli)*sharesPerCPU/1000, MinShares), MaxShares)
}

// Quota returns the limit of a cgroup in µs of each Period. It returns 0, which means no limit, for
// 0.
func Quota(milli int64) int64 {
	if milli == 0 {
		return 0
	}
	return max(min(milli, maxMilli)*Period/1000, minQuota)
}

// Weight converts shares to the weight of cgroup v2, linearly, as a kubelet does for pods: from 1
// to 10000.
func Weight(shares int64) int64 {
	return 1 + (shares-MinShares)*(maxWeight-1)/(MaxShares-MinShares)
}

// SharesOfWeight is the inverse of Weight, except for rounding.
func SharesOfWeight(weight int64) int64 {
	return MinShares + (weight-1)*(MaxShares-MinShares)/(maxWeight-1)
}

package cpu

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// Online returns the numbers of the CPUs that are online, and Possible of those that could be. Both
// include the CPUs that are kept from this process, as by CPUAffinity of systemd.
func Online() []int { return readList("/sys/devices/system/cpu/online") }

// Possible is like Online.
func Possible() []int { return readList("/sys/devices/system/cpu/possible") }

// readList reads a file of the kernel. If it cannot be read, the CPUs of this process are returned.
func readList(file string) []int {
	text, err := os.ReadFile(file)
	if all := parseList(strings.TrimSpace(string(text))); err == nil && len(all) > 0 {
		return all
	}
	all := make([]int, runtime.NumCPU())
	for i := range all {
		all[i] = i
	}
	return all
}

// parseList reads a list such as "0-3,8"; see cpuset(7), "List format". It returns nil for a list
// that is none.
func parseList(text string) []int {
	var all []int
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		first, err := strconv.ParseUint(from, 10, 16)
		if err != nil {
			return nil
		}
		last, err := strconv.ParseUint(to, 10, 16)
		if err != nil {
			return nil
		}
		for i := first; i <= last; i++ {
			all = append(all, int(i))
		}
	}
	return all
}

package harness

import (
	"fmt"
	"iter"
	"os"
	"strconv"
	"strings"
)

// MountsBelow returns the mount points below a directory, in the order of mounting.
func MountsBelow(dir string) ([]string, error) {
	table, err := mountTable()
	return mountsBelow(table, dir), err
}

// mountTable returns the mounts of this process. The mount point is the fifth field of each line,
// and the type of the file system follows a lone dash (proc_pid_mountinfo(5)).
func mountTable() (string, error) {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", fmt.Errorf("read the mounts: %w", err)
	}
	return string(table), nil
}

// mountsBelow returns the mount points below a directory.
func mountsBelow(table, dir string) []string {
	var found []string
	for point := range mountPoints(table) {
		if strings.HasPrefix(point, dir+"/") {
			found = append(found, point)
		}
	}
	return found
}

// cgroupMounts returns the roots of the cgroup hierarchies.
func cgroupMounts(table string) []string {
	var found []string
	for point, kind := range mountPoints(table) {
		if kind == "cgroup" || kind == "cgroup2" {
			found = append(found, point)
		}
	}
	return found
}

// mountPoints returns each mount point and the type of its file system.
func mountPoints(table string) iter.Seq2[string, string] {
	return func(yield func(point, kind string) bool) {
		for line := range strings.Lines(table) {
			fields := strings.Fields(line)
			_, system, ok := strings.Cut(line, " - ")
			if !ok || len(fields) < 5 {
				continue
			}
			kind, _, _ := strings.Cut(system, " ")
			if !yield(unescape(fields[4]), kind) {
				return
			}
		}
	}
}

// unescape decodes blanks and backslashes, which the kernel writes as octal numbers.
func unescape(field string) string {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(field, `\`)
		out.WriteString(before)
		if !found {
			return out.String()
		}
		code, err := strconv.ParseUint(rest[:min(3, len(rest))], 8, 8)
		if err != nil || len(rest) < 3 {
			out.WriteString(`\`)
			field = rest
			continue
		}
		out.WriteByte(byte(code))
		field = rest[3:]
	}
}

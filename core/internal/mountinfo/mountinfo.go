// Package mountinfo reads the kernel's list of mounts. It keeps no state and
// owns no goroutine.
package mountinfo

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Mount is one mount of this process's mount namespace.
type Mount struct {
	// Point is the mount point, with links resolved.
	Point string
	// Type is the file system's type: tmpfs, cgroup, cgroup2, …
	Type string
	// Options are the options of the superblock; those of a cgroup mount name its controllers.
	Options []string
}

// Read reads a file in the format of /proc/self/mountinfo. Mounts are in the order of their
// creation.
func Read(path string) ([]Mount, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the list of mounts: %w", err)
	}
	mounts, err := Parse(string(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return mounts, nil
}

// Parse parses text in the form of /proc/self/mountinfo, proc(5).
func Parse(text string) ([]Mount, error) {
	var mounts []Mount
	for line := range strings.Lines(text) {
		before, after, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " - ")
		head, tail := strings.Fields(before), strings.Fields(after)
		if !ok || len(head) < 6 || len(tail) < 1 {
			return nil, fmt.Errorf("line %d is no mount: %q", len(mounts)+1, line)
		}
		m := Mount{Point: unescape(head[4]), Type: tail[0]}
		// The source may be empty, which leaves two fields.
		if len(tail) > 1 {
			m.Options = strings.Split(tail[len(tail)-1], ",")
		}
		mounts = append(mounts, m)
	}
	return mounts, nil
}

// unescape replaces \040 and similar escapes with their characters.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+4 <= len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

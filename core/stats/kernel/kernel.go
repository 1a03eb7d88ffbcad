package kernel

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/wardlet/wardlet/core/internal/mountinfo"
)

// Kernel reads the files of one machine.
type Kernel struct {
	// root is the directory that has proc and the mount points; "/" but in tests.
	root string
	// unified is the mount point of cgroup v2, empty if v1 counts CPU or memory.
	unified string
	// controllers are the mount points of cgroup v1 by controller.
	controllers map[string]string
}

// Open detects how cgroups are mounted, on the machine whose root directory is root.
func Open(root string) (*Kernel, error) {
	k := &Kernel{root: root, controllers: map[string]string{}}
	mounts, err := mountinfo.Read(k.proc("self/mountinfo"))
	if err != nil {
		return nil, err
	}
	unified := ""
	for _, m := range mounts {
		point := filepath.Join(root, m.Point)
		switch {
		case m.Type == "cgroup2" && unified == "":
			unified = point
		case m.Type == "cgroup":
			for _, controller := range m.Options {
				if k.controllers[controller] == "" {
					k.controllers[controller] = point
				}
			}
		}
	}
	if k.controllers["cpuacct"] == "" && k.controllers["memory"] == "" {
		k.unified = unified
	}
	return k, nil
}

// proc returns the path of a file below /proc.
func (k *Kernel) proc(name string) string { return filepath.Join(k.root, "proc", name) }

// text reads a file. The kernel makes these files when they are read, so their size is not known
// before.
func text(path string) (string, error) {
	data, err := os.ReadFile(path)
	return string(data), err
}

// problem describes a file whose content is not as expected.
func problem(path, what string) error { return fmt.Errorf("%s: %s", path, what) }

// list returns the fields of each line.
func list(text string) (lines [][]string) {
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) > 0 {
			lines = append(lines, fields)
		}
	}
	return lines
}

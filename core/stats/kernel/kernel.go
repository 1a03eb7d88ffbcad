package kernel

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

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

// buffers are what text reads into: *[64 << 10]byte.
var buffers = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// text reads a file. The kernel makes these files when they are read, so their size is not known
// before. A reading of many pods is thousands of files: an os.File for each would cost as much as
// the calls themselves.
func text(path string) (string, error) {
	fd, err := again(func() (int, error) { return unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return "", &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	buffer := buffers.Get().(*[64 << 10]byte)
	defer buffers.Put(buffer)
	var more []byte
	have := 0
	for {
		if have == len(buffer) {
			more = append(more, buffer[:]...)
			have = 0
		}
		n, err := again(func() (int, error) { return unix.Read(fd, buffer[have:]) })
		if err != nil {
			return "", &os.PathError{Op: "read", Path: path, Err: err}
		}
		if n == 0 {
			return string(more) + string(buffer[:have]), nil
		}
		have += n
	}
}

// again repeats a call that a signal has interrupted.
func again(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
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

package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// files has the kernel's operations on a cgroup file system, which tests replace.
type files struct {
	// root is the directory of /proc and /sys, "/" except in tests.
	root  string
	mkdir func(path string) error
	rmdir func(path string) error
	write func(path, value string) error
	// kill kills a process if the function still returns true, which confirms that the process is the
	// intended one. It is called once the process ID can no longer be reused.
	kill func(pid int, still func() bool) error
}

func kernelFiles() files {
	return files{
		root:  "/",
		mkdir: func(path string) error { return os.Mkdir(path, 0o755) },
		rmdir: os.Remove,
		write: func(path, value string) error { return os.WriteFile(path, []byte(value), 0o644) },
		kill:  killProcess,
	}
}

// ensure creates one directory.
func (f files) ensure(path string) error {
	if err := f.mkdir(path); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("make a cgroup: %w", err)
	}
	return nil
}

// set writes value to the file name of a cgroup's directory.
func (f files) set(dir, name, value string) error {
	if err := f.write(filepath.Join(dir, name), value); err != nil {
		return fmt.Errorf("set %s of a cgroup to %s: %w", name, value, err)
	}
	return nil
}

// setPIDs limits the number of processes of a cgroup; 0 means no limit. Without a limit the
// controller may be missing.
func (f files) setPIDs(dir string, limit int64) error {
	if limit == 0 && !exists(filepath.Join(dir, "pids.max")) {
		return nil
	}
	return f.set(dir, "pids.max", orNone(limit, "max"))
}

// number reads a file that holds one number.
func number(path string) (int64, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
}

// levels returns the directories of the cgroup path below a mount point, the highest first.
func levels(point, path string) []string {
	var dirs []string
	dir := point
	for part := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		dir = filepath.Join(dir, part)
		dirs = append(dirs, dir)
	}
	return dirs
}

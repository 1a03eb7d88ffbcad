package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// mount is a line of the mount table.
type mount struct{ point, kind string }

func readMounts() ([]mount, error) {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("read the mounts: %w", err)
	}
	return parseMounts(string(table)), nil
}

// parseMounts reads mountinfo: the point is the fifth field, the kind follows a lone dash. The paths looked for here hold
// nothing that the kernel would escape.
func parseMounts(table string) []mount {
	var found []mount
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		_, system, ok := strings.Cut(line, " - ")
		if !ok || len(fields) < 5 {
			continue
		}
		kind, _, _ := strings.Cut(system, " ")
		found = append(found, mount{fields[4], kind})
	}
	return found
}

// mountsBelow are the mount points below a directory, in the order of mounting.
func mountsBelow(dir string) ([]string, error) {
	all, err := readMounts()
	if err != nil {
		return nil, err
	}
	var found []string
	for _, m := range all {
		if strings.HasPrefix(m.point, dir+"/") {
			found = append(found, m.point)
		}
	}
	return found, nil
}

func unmount(point string) error { return unix.Unmount(point, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW) }

// cgroupsNamed are the cgroups of that name at the top of any hierarchy with all below them, outer ones first.
func cgroupsNamed(name string) ([]string, error) {
	all, err := readMounts()
	if err != nil {
		return nil, err
	}
	var found []string
	for _, m := range all {
		if m.kind != "cgroup" && m.kind != "cgroup2" {
			continue
		}
		dirs, err := directories(filepath.Join(m.point, name))
		if err != nil {
			return nil, err
		}
		found = append(found, dirs...)
	}
	return found, nil
}

// directories are a directory and all below it, none where it is not there.
func directories(root string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			found = append(found, path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return found, err
}

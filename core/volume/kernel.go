package volume

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/wardlet/wardlet/core/internal/mountinfo"
)

// tmpfs and hugetlbfs are the types of file systems in memory.
const tmpfs, hugetlbfs = "tmpfs", "hugetlbfs"

// kernel is the set of kernel calls that the package uses for more than files.
type kernel interface {
	// mounts lists the mounts at dir and below, oldest first.
	mounts(dir string) ([]mountinfo.Mount, error)
	// mount mounts a tmpfs or hugetlbfs at the directory path, which is not a link.
	mount(fsType, path string, flags uintptr, options string) error
	// unmount removes the newest mount at path.
	unmount(path string) error
	// open opens a path below a directory. It follows no link that leads out of the directory.
	open(dir, sub string) (*os.File, error)
	// bind mounts an open file or directory at target, which has to be of the same kind.
	bind(part *os.File, target string) error
	// seclude keeps the removal of the mounts at path and below from removing those that they
	// are copies of: mounts of the node below a hostPath.
	seclude(path string) error
	// detach removes the newest mount at path, even if it is in use.
	detach(path string) error
}

type linux struct{}

func (linux) mounts(dir string) ([]mountinfo.Mount, error) {
	all, err := mountinfo.Read("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	var below []mountinfo.Mount
	for _, m := range all {
		if m.Point == dir || strings.HasPrefix(m.Point, dir+string(filepath.Separator)) {
			below = append(below, m)
		}
	}
	return below, nil
}

func (linux) mount(fsType, path string, flags uintptr, options string) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	at := fmt.Sprintf("/proc/self/fd/%d", fd)
	if fsType != tmpfs {
		return unix.Mount(fsType, at, fsType, flags, options)
	}
	// Prevent swapping to a disk if the kernel supports that: Linux 6.4 and newer.
	err = unix.Mount(tmpfs, at, tmpfs, flags, options+",noswap")
	if errors.Is(err, unix.EINVAL) {
		err = unix.Mount(tmpfs, at, tmpfs, flags, options)
	}
	return err
}

func (linux) unmount(path string) error { return unix.Unmount(path, unix.UMOUNT_NOFOLLOW) }

func (linux) open(dir, sub string) (*os.File, error) { return openSubPath(dir, sub) }

func (linux) bind(part *os.File, target string) error {
	if err := unix.Mount(fmt.Sprintf("/proc/self/fd/%d", part.Fd()), target, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("bind %s to %s: %w", part.Name(), target, err)
	}
	return nil
}

func (linux) seclude(path string) error {
	return unix.Mount("", path, "", unix.MS_REC|unix.MS_PRIVATE, "")
}

func (linux) detach(path string) error {
	return unix.Unmount(path, unix.UMOUNT_NOFOLLOW|unix.MNT_DETACH)
}

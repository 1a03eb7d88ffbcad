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

const tmpfs = "tmpfs"

// kernel is the set of kernel calls that the package uses for more than files.
type kernel interface {
	// mounts lists the mounts at dir and below, oldest first.
	mounts(dir string) ([]mountinfo.Mount, error)
	// mount mounts a tmpfs at the directory path, which is not a link.
	mount(path, options string) error
	// unmount removes the newest mount at path.
	unmount(path string) error
	// open opens a path below a directory. It follows no link that leads out of the directory.
	open(dir, sub string) (*os.File, error)
	// bind mounts an open file or directory at target, which has to be of the same kind.
	bind(part *os.File, target string) error
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

func (linux) mount(path, options string) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	at := fmt.Sprintf("/proc/self/fd/%d", fd)
	// Prevent swapping to a disk if the kernel supports that: Linux 6.4 and newer.
	err = unix.Mount(tmpfs, at, tmpfs, 0, options+",noswap")
	if errors.Is(err, unix.EINVAL) {
		err = unix.Mount(tmpfs, at, tmpfs, 0, options)
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

func (linux) detach(path string) error {
	return unix.Unmount(path, unix.UMOUNT_NOFOLLOW|unix.MNT_DETACH)
}

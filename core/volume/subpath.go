package volume

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/internal/rmtree"
)

// subPath returns the host path of a subpath of a volume. It is a bind mount in the pod's
// directory, so the workload cannot redirect it by changing the path before or after. A subpath
// that does not exist is created as a directory with the volume's mode. index is the index of the
// mount in the container.
func (v *Volumes) subPath(p *v1.Pod, container string, index int, volume, host, sub string) (string, error) {
	if err := checkSubPath(sub); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(host)
	if err != nil {
		return "", fmt.Errorf("subPath %q: %w", sub, err)
	}
	defer root.Close()
	part, err := v.kernel.open(host, sub)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeSubPath(root, sub); err == nil {
			part, err = v.kernel.open(host, sub)
		}
	}
	if err != nil {
		return "", fmt.Errorf("subPath %q: %w", sub, err)
	}
	defer part.Close()
	target, err := v.subPathTarget(p, container, index, volume, part)
	if err != nil {
		return "", fmt.Errorf("subPath %q: %w", sub, err)
	}
	return target, nil
}

// checkSubPath returns an error if sub is not a path below a directory.
func checkSubPath(sub string) error {
	switch {
	case filepath.IsAbs(sub):
		return fmt.Errorf("subPath %q must not be absolute", sub)
	case slices.Contains(strings.Split(sub, "/"), ".."):
		return fmt.Errorf("subPath %q must not contain '..'", sub)
	}
	return nil
}

// makeSubPath makes the missing directories of a path, with the mode and group of the volume. It
// follows no link out of the volume.
func makeSubPath(root *os.Root, sub string) error {
	of, err := root.Stat(".")
	if err != nil {
		return err
	}
	mode := of.Mode() & (fs.ModePerm | fs.ModeSetgid | fs.ModeSticky)
	at := ""
	for name := range strings.SplitSeq(filepath.Clean(sub), "/") {
		at = filepath.Join(at, name)
		switch err := root.Mkdir(at, mode.Perm()); {
		case errors.Is(err, fs.ErrExist):
			continue
		case err != nil:
			return err
		}
		if err := root.Chmod(at, mode); err != nil {
			return err
		}
	}
	return nil
}

// subPathTarget binds an open subpath of a volume to its target in the pod's directory. An existing
// bind mount is kept if it is of the same file; else, for example after an update of the volume, it
// is replaced.
func (v *Volumes) subPathTarget(p *v1.Pod, container string, index int, volume string, part *os.File) (string, error) {
	if !rmtree.IsName(container) || !rmtree.IsName(volume) {
		return "", errors.New("the name cannot be that of a directory")
	}
	dir := filepath.Join(v.layout.SubPathsDir(p.UID), volume, container)
	target := filepath.Join(dir, strconv.Itoa(index))
	info, err := part.Stat()
	if err != nil {
		return "", err
	}
	mounts, err := v.kernel.mounts(target)
	if err != nil {
		return "", err
	}
	for _, m := range slices.Backward(mounts) {
		if m.Point != target {
			continue // of the volume itself, and goes with the target
		}
		if there, err := os.Stat(target); err == nil && os.SameFile(there, info) {
			return target, nil
		}
		if err := errors.Join(v.kernel.seclude(target), v.kernel.detach(target)); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", err
	}
	if err := os.RemoveAll(target); err != nil {
		return "", err
	}
	if info.IsDir() {
		err = os.Mkdir(target, 0o750)
	} else {
		err = os.WriteFile(target, nil, 0o640)
	}
	if err != nil {
		return "", err
	}
	return target, v.kernel.bind(part, target)
}

// maxRead is the maximum size of a file that ReadFile reads, in bytes: the environment of a
// container cannot be larger.
const maxRead = 1 << 20

// ReadFile reads a file of an emptyDir of a pod, which a workload has written. It follows no link
// out of the volume, and opens only regular files. The error is a fs.ErrNotExist if the file does
// not exist.
func (v *Volumes) ReadFile(p *v1.Pod, volume, path string) ([]byte, error) {
	path = strings.TrimLeft(path, "/")
	if err := checkSubPath(path); err != nil {
		return nil, err
	}
	at, err := v.kernel.open(v.layout.VolumeDir(p.UID, EmptyDirPlugin, volume), path)
	if err != nil {
		return nil, err
	}
	defer at.Close()
	if info, err := at.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errors.New("it is no regular file"))
	}
	f, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", at.Fd()))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxRead+1))
	if err == nil && len(data) > maxRead {
		err = fmt.Errorf("it is longer than %d bytes", maxRead)
	}
	return data, err
}

// openSubPath opens a path below a directory. It follows no link out of the directory and no magic
// link of /proc.
func openSubPath(host, sub string) (*os.File, error) {
	dir, err := unix.Open(host, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: host, Err: err}
	}
	defer unix.Close(dir)
	for {
		fd, err := unix.Openat2(dir, sub, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS})
		switch {
		case errors.Is(err, unix.EAGAIN): // something was renamed during the call
			continue
		case errors.Is(err, unix.EXDEV):
			return nil, errors.New("a link leads out of the volume")
		case err != nil:
			return nil, &fs.PathError{Op: "open", Path: filepath.Join(host, sub), Err: err}
		}
		return os.NewFile(uintptr(fd), filepath.Join(host, sub)), nil
	}
}

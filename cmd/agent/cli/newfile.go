package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// WriteNew writes a file that only its owner can read. It writes the whole file or none, and never
// replaces an existing one.
func WriteNew(path string, write func(io.Writer) error) error {
	return naming{os.Link, renameNew}.written(path, write)
}

// naming has two ways to move a complete file to its final name without replacing another file. A
// file system may support neither.
type naming struct{ link, rename func(from, to string) error }

func (n naming) written(path string, write func(io.Writer) error) error {
	there := fmt.Errorf("%s is there already; name another file, or remove it", path)
	if _, err := os.Lstat(path); err == nil {
		return there
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(write(f), f.Close()); err != nil {
		return err
	}
	err = n.name(f.Name(), path)
	if errors.Is(err, fs.ErrExist) {
		return there
	}
	return err
}

// name adds another name to a file. If the file system supports neither way, it copies the file:
// FAT has no links, and network file systems may not support renaming without replacing.
func (n naming) name(from, to string) error {
	for _, do := range []func(from, to string) error{n.link, n.rename} {
		if err := do(from, to); !unknownHere(err) {
			return err
		}
	}
	return copyNew(from, to)
}

// unknownHere reports whether err means that the file system does not support the operation.
func unknownHere(err error) bool {
	return errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL)
}

func renameNew(from, to string) error {
	if err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

// copyNew copies a file to a path that must not exist yet. If it fails, it leaves no file behind.
func copyNew(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	return nil
}

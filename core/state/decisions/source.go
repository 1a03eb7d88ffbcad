package decisions

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/wardlet/wardlet/core/state/durable"
)

// RecordFiles are files with records: those of a state directory or of a bundle.
type RecordFiles struct {
	fs.FS

	bundle bool
}

// BundleFiles returns the files of a bundle. They must be the files that its manifest names.
func BundleFiles(files fs.FS) *RecordFiles { return &RecordFiles{files, true} }

// isBundle reports whether the files have a manifest.
func (f *RecordFiles) isBundle() bool { return f.bundle }

// FilesOf returns the files of a state directory, or of a copy of it. It follows no links and opens
// only directories and regular files, so that reading never blocks.
func FilesOf(dir string) *RecordFiles { return &RecordFiles{stateFS(dir), false} }

type stateFS string

// Open implements fs.FS.
func (s stateFS) Open(name string) (fs.File, error) {
	f, err := s.open(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return f, nil
}

func (s stateFS) open(name string) (*os.File, error) {
	if !fs.ValidPath(name) {
		return nil, fs.ErrInvalid
	}
	path := string(s) // the path that the caller gave may be a link
	for part := range strings.SplitSeq(name, "/") {
		if part == "." {
			continue
		}
		path = filepath.Join(path, part)
		info, err := os.Lstat(path)
		if err != nil {
			return nil, causeOf(err)
		}
		if err := plain(info); err != nil {
			return nil, err
		}
	}
	flags := os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOCTTY
	if name != "." {
		flags |= syscall.O_NOFOLLOW
	}
	f, err := os.OpenFile(path, flags, 0)
	if err != nil {
		return nil, causeOf(err)
	}
	info, err := f.Stat()
	if err == nil {
		err = plain(info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// causeOf returns an error without the path on this machine.
func causeOf(err error) error {
	if e, ok := err.(*fs.PathError); ok { //nolint:errorlint // only what is outermost says it again
		return e.Err
	}
	return err
}

// plain returns an error for anything that is neither a directory nor a regular file.
func plain(info fs.FileInfo) error {
	if !info.IsDir() && !info.Mode().IsRegular() {
		return &durable.OddFileError{Reason: fmt.Sprintf("it is neither a directory nor a regular file, its mode is %v", info.Mode())}
	}
	return nil
}

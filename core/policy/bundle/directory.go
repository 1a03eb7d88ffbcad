package bundle

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/wardlet/wardlet/core/internal/fswatch"
	"github.com/wardlet/wardlet/core/policy/signed"
)

// maxDocuments is the greatest number of documents of a set.
const maxDocuments = 256

// tooLong is the error of a file that is longer than its limit.
type tooLong struct{ size, limit int64 }

func (e *tooLong) Error() string {
	return fmt.Sprintf("%d bytes long, more than the %d it may have", e.size, e.limit)
}

// errMoved is the error if a name became another file while it was read.
var errMoved = errors.New("it was replaced while it was read")

// missingError is the error for a directory that does not exist.
type missingError struct{ path string }

func (e *missingError) Error() string {
	return fmt.Sprintf("the policy directory %s is missing; make it, or take it out of agent.toml to have no policies", e.path)
}

// Directory is the directory of the policies while it is read. Files opened through it lie
// in it, even if names change in the meantime.
type Directory struct {
	path string
	root *os.Root
}

// OpenDirectory opens the directory at a path, which may be reached through links.
// Close must follow.
func OpenDirectory(path string) (*Directory, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &missingError{path}
	case err != nil:
		return nil, fmt.Errorf("the policy directory cannot be read: %w", err)
	case !info.IsDir():
		return nil, fmt.Errorf("%s is no directory; name the directory of the policies", path)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("the policy directory cannot be read: %w", err)
	}
	return &Directory{path, root}, nil
}

// Close closes the directory.
func (d *Directory) Close() { d.root.Close() }

// isDocument reports whether a name in the directory is the name of a document. Hidden
// files, auxiliary files of editors and the manifest of a signed set are not documents.
func isDocument(name string) bool {
	return strings.HasSuffix(name, ".toml") && !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "#") && name != signed.ManifestName
}

// Documents returns the names of the documents, sorted.
func (d *Directory) Documents() ([]string, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, fmt.Errorf("the policy directory cannot be listed: %w", err)
	}
	defer f.Close()
	var names []string
	for {
		entries, err := f.ReadDir(maxDocuments)
		for _, e := range entries {
			if isDocument(e.Name()) {
				names = append(names, e.Name())
			}
		}
		if len(names) > maxDocuments {
			return nil, fmt.Errorf("the policy directory %s has more than %d documents; remove some, or unite policies", d.path, maxDocuments)
		}
		if errors.Is(err, io.EOF) {
			slices.Sort(names)
			return names, nil
		}
		if err != nil {
			return nil, fmt.Errorf("the policy directory cannot be listed: %w", err)
		}
	}
}

// stamp returns the stamp of a name. It does not follow links.
func (d *Directory) stamp(name string) fswatch.Stamp {
	if name == "." {
		if info, err := d.root.Stat("."); err == nil {
			return fswatch.Stamp{Inode: fswatch.StampOf(info).Inode} // identifies the directory, not its content
		}
		return fswatch.Stamp{}
	}
	info, err := d.root.Lstat(name)
	if err != nil {
		return fswatch.Stamp{}
	}
	return fswatch.StampOf(info)
}

// read returns the bytes of a regular file of at most limit bytes, and whether the file
// stayed the same while it was read. No part of the name may be a link. The error does not
// contain the name.
func (d *Directory) read(name string, limit int64) (data []byte, steady bool, err error) {
	root := d.root
	dir, base := filepath.Split(name)
	for part := range strings.SplitSeq(strings.TrimSuffix(dir, "/"), "/") {
		if part == "" {
			continue
		}
		below, err := enter(root, part)
		if root != d.root {
			root.Close()
		}
		if err != nil {
			return nil, !errors.Is(err, errMoved), bare(err)
		}
		root = below
	}
	if root != d.root {
		defer root.Close()
	}
	data, steady, err = readFile(root, base, limit)
	return data, steady, bare(err)
}

// enter opens a directory that is not a link.
func enter(root *os.Root, name string) (*os.Root, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, notA("directory", info)
	}
	below, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	opened, err := below.Stat(".")
	if err == nil && !os.SameFile(info, opened) {
		err = errMoved
	}
	if err != nil {
		below.Close()
		return nil, err
	}
	return below, nil
}

// readFile reads a file only if it is regular. It does not block if the name became a pipe
// after it was checked.
func readFile(root *os.Root, name string, limit int64) (data []byte, steady bool, err error) {
	before, err := root.Lstat(name)
	if err != nil {
		return nil, true, err
	}
	if !before.Mode().IsRegular() {
		return nil, true, notA("regular file", before)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, true, err
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil {
		return nil, true, err
	}
	if !os.SameFile(before, opened) {
		return nil, false, errMoved
	}
	if opened.Size() > limit {
		return nil, true, &tooLong{opened.Size(), limit}
	}
	if data, err = io.ReadAll(io.LimitReader(f, limit+1)); err != nil {
		return nil, true, err
	}
	after, err := f.Stat()
	if err != nil {
		return nil, true, err
	}
	return data, fswatch.StampOf(before) == fswatch.StampOf(after) && int64(len(data)) == after.Size(), nil
}

func notA(want string, info fs.FileInfo) error {
	if info.Mode()&fs.ModeSymlink != 0 {
		return errors.New("a symbolic link, and links are not followed; put what it leads to in its place")
	}
	return fmt.Errorf("not a %s; remove it, or put one in its place", want)
}

// bare returns an error of the os package without its name, which is only the last
// part of the path.
func bare(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}

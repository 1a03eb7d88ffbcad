package compile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// indexName is the name of the index in an entry's directory.
const indexName = "entry.json"

// entry is the index of one module's compiled code.
type entry struct {
	// Module is the digest of the module. Engine is the directory in which wazero
	// keeps its files; its name contains wazero's version and the machine. If
	// modules are interpreted, there are no files, and Engine is the terms under
	// which a child has tried this one.
	Module string `json:"module"`
	Engine string `json:"engine"`
	codeFiles
	Cost Cost `json:"cost"`
}

// opened is an entry in use. It is not evicted until it is closed.
type opened struct {
	entry
	index *os.File
	files []*os.File
	shell []byte
	// image is nil if there is none.
	image *os.File
}

// errStale is the error if the entry was made by another version of wazero, for its
// other engine, or under other terms.
var errStale = errors.New("it was made by another version, or by other terms")

// openEntry opens the index of the entry in dir, if all its files exist with the
// right size. It locks the index, so that other processes do not remove the entry.
func openEntry(dir string, digest Digest, engine string) (_ *opened, err error) {
	if unsafe, err := owned(dir); err != nil || unsafe != nil {
		return nil, errors.Join(err, unsafe)
	}
	o := &opened{}
	if o.index, err = openRegular(filepath.Join(dir, indexName)); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, o.close())
		}
	}()
	if unix.Flock(int(o.index.Fd()), unix.LOCK_SH|unix.LOCK_NB) != nil {
		err = fs.ErrNotExist // it is being removed
		return nil, err
	}
	if o.entry, err = readEntry(o.index); err != nil {
		return nil, err
	}
	switch {
	case o.Module != digest.String():
		return nil, fmt.Errorf("its index is that of module %s", o.Module)
	case o.Engine != engine:
		return nil, errStale
	}
	for _, f := range o.all() {
		info, err := os.Lstat(filepath.Join(dir, f.Name))
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() || info.Size() != f.Size {
			return nil, fmt.Errorf("%s has %d bytes and mode %v, its index says %d bytes", f.Name, info.Size(), info.Mode(), f.Size)
		}
	}
	return o, nil
}

func readEntry(r io.Reader) (e entry, err error) {
	if err := readLine(r, &e); err != nil {
		return e, fmt.Errorf("its index %w", err)
	}
	return e, e.check()
}

// readLine decodes a file of one line of JSON.
func readLine(from io.Reader, v any) error {
	text, err := io.ReadAll(io.LimitReader(from, maxLine+1))
	if err != nil {
		return fmt.Errorf("cannot be read: %w", err)
	}
	if len(text) > maxLine {
		return fmt.Errorf("has more than %d bytes", maxLine)
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("is not JSON: %w", err)
	}
	return nil
}

// openFiles opens the files of code and the image, and reads the shell. It checks
// the content of all but the image.
func (o *opened) openFiles(dir string) (err error) {
	if o.Shell != nil {
		if o.shell, err = o.Shell.read(dir); err != nil {
			return err
		}
	}
	for i := range o.Files {
		f, err := o.Files[i].open(dir)
		if err != nil {
			return err
		}
		o.files = append(o.files, f)
	}
	if o.Image != nil { // it is compared with the code when that is loaded
		o.image, err = openRegular(filepath.Join(dir, o.Image.Name))
	}
	return err
}

func (o *opened) closeFiles() (err error) {
	for _, f := range o.files {
		err = errors.Join(err, f.Close())
	}
	if o.image != nil {
		err = errors.Join(err, o.image.Close())
	}
	o.files, o.shell, o.image = nil, nil, nil
	return err
}

func (o *opened) close() error { return errors.Join(o.closeFiles(), o.index.Close()) }

// writeEntry writes an index into dir, and syncs dir to the disk.
func writeEntry(dir string, e *entry, now time.Time) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	index := filepath.Join(dir, indexName)
	if err := writeWhole(index, text); err != nil {
		return err
	}
	if err := os.Chtimes(index, now, now); err != nil {
		return err
	}
	for _, f := range e.all() {
		if err := syncDir(filepath.Dir(filepath.Join(dir, f.Name))); err != nil {
			return err
		}
	}
	return syncDir(dir)
}

// writeWhole writes a new file and syncs it to the disk.
func writeWhole(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close())
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// cached describes an entry for evict.
type cached struct {
	path string
	size int64
	used time.Time
	// broken: the entry has no index, so it can never be loaded.
	broken bool
}

// evict removes broken entries, and then those that were used least recently until
// the size of the others does not exceed most. It does not remove the entry keep,
// nor entries that this or another process uses.
func (s *shelf) evict(most int64, keep Digest) error {
	if s.private == nil {
		return nil
	}
	entries, err := s.cached()
	if err != nil {
		return err
	}
	var total int64
	for _, e := range entries {
		total += e.size
	}
	slices.SortFunc(entries, func(a, b cached) int { return a.used.Compare(b.used) })
	for _, e := range entries {
		if filepath.Base(e.path) == keep.String() || !e.broken && total <= most {
			continue
		}
		removed, fault := s.removeUnused(&e)
		if removed {
			total -= e.size
		}
		err = errors.Join(err, fault)
	}
	return err
}

// removeUnused removes an entry unless it is in use.
func (s *shelf) removeUnused(e *cached) (bool, error) {
	if index, err := openRegular(filepath.Join(e.path, indexName)); err == nil {
		defer index.Close()
		if unix.Flock(int(index.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
			return false, nil
		}
	}
	err := s.remove(e.path)
	return err == nil, err
}

// cached lists the entries. It ignores files that the agent cannot have made.
func (s *shelf) cached() (found []cached, err error) {
	err = digestsIn(filepath.Join(s.dir, modulesDir), func(path string) {
		e := cached{path: path}
		info, err := os.Lstat(filepath.Join(path, indexName))
		if e.broken = err != nil || !info.Mode().IsRegular(); !e.broken {
			e.used = info.ModTime()
		}
		e.size = sizeOf(path)
		found = append(found, e)
	})
	return found, err
}

// digestsIn calls each with every path in dir whose name is a digest.
func digestsIn(dir string, each func(path string)) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	for {
		names, err := d.Readdirnames(512)
		for _, name := range names {
			if isDigest(name) {
				each(filepath.Join(dir, name))
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// sizeOf returns the size of the files below path. It does not follow links, and
// skips what it cannot read.
func sizeOf(path string) (size int64) {
	_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // another process removes it
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return nil
	})
	return size
}

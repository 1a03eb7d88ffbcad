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

// indexName is the index of an entry, in its directory.
const indexName = "entry.json"

// entry is the index of one module's compiled code.
type entry struct {
	// Module is the digest, Engine the directory wazero keeps its files in, which
	// says its version and the machine. Where modules are interpreted there are no
	// files, and Engine is the terms under which a child has tried this one.
	Module string `json:"module"`
	Engine string `json:"engine"`
	codeFiles
	Cost Cost `json:"cost"`
}

// opened is an entry that is in use: it stays until it is closed.
type opened struct {
	entry
	index *os.File
	files []*os.File
	shell []byte
	// image is nil where there is none.
	image *os.File
}

// errStale: the entry was made by another version of wazero, or for its other
// engine, or tried by other terms.
var errStale = errors.New("it was made by another version, or by other terms")

// openEntry opens the index of the entry in dir, if all its files are there
// with the right size. Another process that wants to remove it is kept from it.
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

// openFiles opens the files, reads the shell, and sees that they are whole.
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

// writeEntry puts an index into dir, and all of dir on the disk.
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

// writeWhole writes a new file and puts it on the disk.
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

// cached is an entry as the size bound sees it.
type cached struct {
	path string
	size int64
	used time.Time
	// broken: there is no index, so it can never be loaded.
	broken bool
}

// evict removes broken entries, and those used least recently until what is
// left has at most so many bytes. Those in use stay, here and in other
// processes, and the one of digest keep.
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

// cached lists the entries. What the agent cannot have made is left alone.
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

// digestsIn returns all paths below dir whose name is a digest.
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

// sizeOf is the size of what is below path; links are not followed, and what
// cannot be read counts nothing.
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

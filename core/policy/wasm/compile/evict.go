package compile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

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

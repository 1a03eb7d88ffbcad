package compile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// These are the directories of a shelf.
const (
	modulesDir = "modules" // compiled code, one directory per digest
	refusedDir = "refused" // one file per digest that is refused
	workDir    = "work"    // one directory per living process
)

// shelf is a directory with compiled code and refusals. Everything in it is made in
// a private directory of the process and then moved to its place as a whole. So
// several processes may use the shelf, and each may die at any time.
type shelf struct {
	dir string
	// private is the process's own directory, nil if the shelf cannot be written
	// to.
	private *privateDir
	// dead are the digests of entries that cannot be loaded and could not be
	// removed.
	dead sync.Map
}

// openShelf opens the shelf in dir, which must be a directory of its owner. If the
// shelf cannot be written to, unwritable is the reason; the shelf can still be
// read.
func openShelf(dir string) (s *shelf, unwritable error) {
	s = &shelf{dir: dir}
	work := filepath.Join(dir, workDir)
	if err := ownDirs(filepath.Join(dir, modulesDir), filepath.Join(dir, refusedDir), work); err != nil {
		return s, err
	}
	if err := sweep(work, ""); err != nil {
		return s, err
	}
	s.private, unwritable = claim(work, "")
	return s, unwritable
}

func (s *shelf) close() error {
	if s.private == nil {
		return nil
	}
	return s.private.release()
}

func (s *shelf) modulePath(d Digest) string { return filepath.Join(s.dir, modulesDir, d.String()) }

// temp makes an empty directory in the private directory.
func (s *shelf) temp() (string, error) {
	if s.private == nil {
		return "", &diskFault{fs.ErrPermission}
	}
	dir, err := os.MkdirTemp(s.private.path, "")
	if err != nil {
		return "", &diskFault{err}
	}
	return dir, nil
}

// install moves the directory made, which holds the files of e, to its place. An
// entry that cannot be loaded is replaced.
func (s *shelf) install(made string, digest Digest, e *entry, now time.Time) error {
	if err := writeEntry(made, e, now); err != nil {
		return &diskFault{err}
	}
	var err error
	// Another process may install its own entry in between, but not often.
	for range 5 {
		if err = os.Rename(made, s.modulePath(digest)); err == nil {
			s.dead.Delete(digest)
			return wrapDisk(syncDir(filepath.Join(s.dir, modulesDir)))
		}
		if there, err := s.open(digest, e.Engine); err == nil { // another process was faster
			return there.close()
		}
		if err := s.remove(s.modulePath(digest)); err != nil {
			return &diskFault{err}
		}
	}
	return &diskFault{err}
}

func wrapDisk(err error) error {
	if err == nil {
		return nil
	}
	return &diskFault{err}
}

// remove moves a path away in one step, and then deletes it.
func (s *shelf) remove(path string) error {
	away, err := s.temp()
	if err != nil {
		return err
	}
	err = os.Rename(path, filepath.Join(away, "old"))
	// If it does not exist, another process has removed or is replacing it.
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, os.RemoveAll(away))
}

// open opens the entry of a module. The error is fs.ErrNotExist if there is none.
func (s *shelf) open(digest Digest, engine string) (*opened, error) {
	if _, dead := s.dead.Load(digest); dead {
		return nil, fs.ErrNotExist
	}
	o, err := openEntry(s.modulePath(digest), digest, engine)
	if errors.Is(err, syscall.ENOTDIR) {
		return nil, fs.ErrNotExist // the whole shelf is gone
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("compiled code in %s: %w", s.modulePath(digest), err)
	}
	return o, err
}

// used records that an entry is in use now, for the order of eviction.
func (s *shelf) used(digest Digest, now time.Time) {
	// On a read-only disk nothing is evicted, so the error does not matter.
	_ = os.Chtimes(filepath.Join(s.modulePath(digest), indexName), now, now)
}

// replaceFile replaces a file of the shelf as a whole.
func (s *shelf) replaceFile(path string, text []byte) error {
	dir, err := s.temp()
	if err != nil {
		return err
	}
	made := filepath.Join(dir, "new")
	err = writeWhole(made, text)
	if err == nil {
		err = os.Rename(made, path)
	}
	// The agent never makes a directory in the place of a file, so it is removed.
	if errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrExist) {
		if err = s.remove(path); err == nil {
			err = os.Rename(made, path)
		}
	}
	if err == nil {
		err = syncDir(filepath.Dir(path))
	}
	return wrapDisk(errors.Join(err, os.RemoveAll(dir)))
}

// memoryName returns the prefix of the names of this user's directories in memory.
func memoryName() string { return "wardlet-compiled-" + strconv.Itoa(os.Geteuid()) + "-" }

// claimMemory makes a private directory in the first of parents in which that is
// possible, and removes what killed agents have left there.
func claimMemory(parents []string) (*privateDir, error) {
	fault := errors.New("none is named")
	for i, parent := range parents {
		err := sweep(parent, memoryName())
		if err == nil {
			var d *privateDir
			if d, err = claim(parent, memoryName()); err == nil {
				return d, nil
			}
		}
		if i == 0 {
			fault = err
		} else {
			fault = errors.Join(fault, err)
		}
	}
	return nil, fault
}

// needSpare returns the spare shelf, for when the cache's own directory cannot be
// written to. It makes the shelf on the first call, and logs why. The shelf is
// removed when the process closes the cache.
func (c *Cache) needSpare(why error) (*shelf, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.spare != nil {
		return c.spare, nil
	}
	if c.memory == nil {
		return nil, fmt.Errorf("no directory for compiled plugins can be written to: %w", why)
	}
	dir := filepath.Join(c.memory.path, "spare")
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, errors.Join(why, err)
	}
	s, err := openShelf(dir)
	if err != nil {
		return nil, fmt.Errorf("no directory for compiled plugins can be written to: %w", errors.Join(why, err, s.close()))
	}
	c.options.Log.Warn("compiled plugins cannot be kept on the disk: they are kept in memory, until the agent ends",
		"directory", c.primary.dir, "instead", dir, "error", why)
	c.spare = s
	return s, nil
}

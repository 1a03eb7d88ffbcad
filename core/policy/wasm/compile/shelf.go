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

// The directories of a shelf.
const (
	modulesDir = "modules" // compiled code, one directory per digest
	refusedDir = "refused" // one file per digest that is refused
	workDir    = "work"    // one directory per living process
)

// shelf is a directory with compiled code and refusals. Everything in it is
// made in the directory of the process and then moved to its place as a whole,
// so that several processes may use it and each may die at any time.
type shelf struct {
	dir string
	// private is the process's own directory; nil where nothing can be written.
	private *privateDir
	// dead are entries that cannot be loaded and could not be removed.
	dead sync.Map
}

// openShelf opens the shelf in dir, which is a directory of its owner. A shelf
// that cannot be written to can still be read; unwritable is why.
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

// temp makes an empty directory of this process.
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

// install moves made, which holds the files of e, to its place. What is there
// and cannot be loaded is replaced.
func (s *shelf) install(made string, digest Digest, e *entry, now time.Time) error {
	if err := writeEntry(made, e, now); err != nil {
		return &diskFault{err}
	}
	var err error
	// Another process may put its own there in between, not many times.
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

// remove takes something out of its place at once, and then apart.
func (s *shelf) remove(path string) error {
	away, err := s.temp()
	if err != nil {
		return err
	}
	err = os.Rename(path, filepath.Join(away, "old"))
	// Only what another process has removed, or will replace, is missing.
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, os.RemoveAll(away))
}

// open opens the entry of a module. It is fs.ErrNotExist if there is none.
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

// used notes that an entry is in use now, for what is removed first.
func (s *shelf) used(digest Digest, now time.Time) {
	// On a disk that is read-only nothing is removed.
	_ = os.Chtimes(filepath.Join(s.modulePath(digest), indexName), now, now)
}

// replaceFile writes a file of the shelf as a whole.
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
	// A directory in the place of a file is nothing the agent has made.
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

// memoryName begins the names of directories in memory of this user.
func memoryName() string { return "wardlet-compiled-" + strconv.Itoa(os.Geteuid()) + "-" }

// claimMemory makes a directory of this process in the first of parents that
// lets it, and removes what agents that were killed have left there.
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

// needSpare makes the shelf for when the cache's own directory cannot be
// written to, and says once why. It goes with the process.
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

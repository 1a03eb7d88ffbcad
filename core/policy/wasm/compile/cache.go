package compile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/tetratelabs/wazero"
)

// Cache holds compiled code on the disk, and the modules that were refused. Several
// processes may use the same directory. It is safe for concurrent use.
type Cache struct {
	options Options
	// engine is the name of the subdirectory that wazero uses. terms identifies
	// what the judgement on a module depends on.
	engine, terms string
	// interpreted: the engine is wazero's interpreter, which writes no code.
	interpreted bool
	// maker is stored in each entry and must match when the entry is opened. It is
	// engine, or terms if modules are interpreted.
	maker    string
	children runner
	primary  *shelf
	// view is the directory in which wazero looks for code. It is empty except
	// while code is loaded.
	view  string
	files wazero.CompilationCache

	// memory is a directory of this process in memory, nil if none could be made.
	memory *privateDir

	// mu guards spare. spare is a shelf in memory; it is made when primary cannot
	// be written to.
	mu    sync.Mutex
	spare *shelf
}

// rememberVersion makes wazero find out its own version, which wazero stores in a
// variable without a lock.
var rememberVersion = sync.OnceValue(func() error {
	ctx := context.Background()
	return wazero.NewRuntime(ctx).Close(ctx)
})

// Open opens the cache in dir, and makes dir if it is missing. It fails if dir is a
// link, or if other users can access it. If dir cannot be made or written to, Open
// does not fail: it uses a private directory in memory instead.
func Open(dir string, o Options) (_ *Cache, err error) {
	if o, err = o.withDefaults(); err != nil {
		return nil, err
	}
	if err := rememberVersion(); err != nil {
		return nil, err
	}
	interpreted, err := interprets(o.Config(o.Interpreted))
	if err != nil {
		return nil, err
	}
	c := &Cache{
		options: o, interpreted: interpreted,
		children: runner{command: o.Command, limits: o.Limits, priority: o.Priority, interpreted: interpreted},
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	unsafe, unwritable := ownDir(dir)
	if unsafe != nil {
		return nil, fmt.Errorf("directory of compiled plugins %s: %w", dir, unsafe)
	}
	c.primary = &shelf{dir: dir}
	if unwritable == nil {
		c.primary, unwritable = openShelf(dir)
	}
	if c.memory, err = claimMemory(o.Spare); err != nil {
		o.Log.Warn("no directory in memory for compiled plugins", "error", err)
	}
	if c.primary.private == nil {
		if _, err := c.needSpare(unwritable); err != nil {
			return nil, err
		}
	}
	if err := c.findEngine(); err != nil {
		return nil, err
	}
	if err := c.primary.evict(o.MaxBytes, Digest{}); err != nil {
		o.Log.Warn("compiled plugins that are not needed cannot be removed", "directory", dir, "error", err)
	}
	return c, nil
}

// findEngine creates wazero's cache in view, and reads the name of the subdirectory
// that wazero makes in it.
func (c *Cache) findEngine() (err error) {
	// Code must be loadable even if the disk is full.
	if c.view = "view"; c.memory != nil {
		c.view = filepath.Join(c.memory.path, c.view)
	} else {
		c.view = filepath.Join(c.primary.private.path, c.view)
	}
	if c.files, err = wazero.NewCompilationCacheWithDir(c.view); err != nil {
		return fmt.Errorf("directory of compiled plugins: %w", err)
	}
	made, err := os.ReadDir(c.view)
	if err != nil {
		return fmt.Errorf("directory of compiled plugins: %w", err)
	}
	if len(made) != 1 {
		return fmt.Errorf("wazero made %d directories in %s, want one", len(made), c.view)
	}
	c.engine = made[0].Name()
	if c.maker = c.engine; c.interpreted {
		c.maker += ", interpreted"
	}
	if c.terms, err = terms(c.maker, c.options.Revision, c.options.Limits); err != nil {
		return err
	}
	if c.interpreted {
		c.maker = c.terms
	}
	return nil
}

// RuntimeConfig returns the configuration for the runtime that loads code from this
// cache.
func (c *Cache) RuntimeConfig() wazero.RuntimeConfig {
	return c.options.Config(c.interpreted).WithCompilationCache(c.files)
}

// Close removes the private directories of this process. The runtime must be closed
// before.
func (c *Cache) Close() (err error) {
	if c.files != nil {
		err = c.files.Close(context.Background())
	}
	if c.primary != nil {
		err = errors.Join(err, c.primary.close())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.spare != nil {
		err = errors.Join(err, c.spare.close())
	}
	if c.memory != nil {
		err = errors.Join(err, c.memory.release())
	}
	return err
}

// shelves returns the existing shelves, in the order in which they are tried.
func (c *Cache) shelves() []*shelf {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.spare == nil {
		return []*shelf{c.primary}
	}
	return []*shelf{c.primary, c.spare}
}

// Ready reports whether the code of a module is cached: all its files exist with
// the right size. If modules are interpreted, it reports whether a child has tried
// this one.
func (c *Cache) Ready(digest Digest) bool {
	for _, s := range c.shelves() {
		if o, err := s.open(digest, c.maker); err == nil {
			return o.close() == nil
		}
	}
	return false
}

// Refused returns why a module is refused, nil if it is not.
func (c *Cache) Refused(digest Digest) *Refused {
	for _, s := range c.shelves() {
		if r := s.refused(digest, c.terms); r != nil {
			return r
		}
	}
	return nil
}

// Forget removes the refusal of a module, so that the module is compiled again.
func (c *Cache) Forget(digest Digest) (err error) {
	for _, s := range c.shelves() {
		err = errors.Join(err, s.forget(digest))
	}
	return err
}

// open opens the code of a module. It returns nil if there is none. A damaged entry
// is removed.
func (c *Cache) open(digest Digest) (*opened, *shelf, error) {
	for _, s := range c.shelves() {
		o, err := s.open(digest, c.maker)
		if err == nil {
			if err = o.openFiles(s.modulePath(digest)); err == nil {
				s.used(digest, c.options.Now())
				return o, s, nil
			}
			err = errors.Join(err, o.close())
		}
		switch {
		case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ENOMEM):
			return nil, nil, err // this says nothing about the entry
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, errStale):
		default:
			c.drop(s, digest, err)
		}
	}
	return nil, nil, nil
}

// drop removes an entry that cannot be loaded.
func (c *Cache) drop(s *shelf, digest Digest, why error) {
	c.options.Log.Warn("cached code of a plugin cannot be used, it is compiled again", "module", digest.String(), "error", why)
	if err := s.remove(s.modulePath(digest)); err != nil {
		s.dead.Store(digest, true)
		c.options.Log.Warn("cached code that cannot be used cannot be removed", "module", digest.String(), "error", err)
	}
}

package compile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

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

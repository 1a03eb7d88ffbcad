package usage

import (
	"context"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

const (
	// maxDepth is how deep directories may lie in each other; each open one costs a file descriptor.
	maxDepth = 512
	// entriesAtOnce is how many entries of a directory are in memory.
	entriesAtOnce = 1024
	// blockSize is the unit of a file's blocks, whatever those of its file system are.
	blockSize = 512
)

// Usage is what was counted.
type Usage struct {
	// Bytes are those on the disk: whole blocks, and nothing where a file has holes.
	Bytes int64
	// Deep is true where directories lie in each other deeper than 512 levels, and those below were not counted.
	Deep bool
}

// Count adds up what the files below a directory take, and stops once that is more than most, or directories lie too deep in
// each other. A directory that is not there takes nothing. No link is followed, and nothing counts that is mounted there. The
// error says that ctx has ended, or what could not be counted.
func Count(ctx context.Context, path string, most int64) (Usage, error) {
	c := count{ctx: ctx, most: most}
	err := c.root(path)
	return Usage{c.used, c.deep}, err
}

type count struct {
	ctx        context.Context
	used, most int64
	device     uint64
	deep       bool
}

func (c *count) root(path string) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	dir := os.NewFile(uintptr(fd), path)
	defer dir.Close()
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return err
	}
	c.device = uint64(stat.Dev) //nolint:unconvert // narrower on some architectures
	return c.directory(dir, 0)
}

// directory counts what is in a directory. A file of several names counts for each of them with its part. The error is that there
// was no time for more, or the first of those that left something out.
func (c *count) directory(dir *os.File, depth int) error {
	switch {
	case c.used > c.most:
		return nil
	case depth == maxDepth:
		c.deep = true
		return nil
	}
	var first error
	for {
		entries, err := dir.ReadDir(entriesAtOnce)
		for _, e := range entries {
			if c.ctx.Err() != nil {
				return c.ctx.Err()
			}
			if err := c.entry(dir, e.Name(), depth); err != nil && first == nil {
				first = err
			}
			if c.used > c.most || c.deep {
				return nil
			}
		}
		if errors.Is(err, io.EOF) {
			return first
		}
		if err != nil {
			return err
		}
	}
}

func (c *count) entry(dir *os.File, name string, depth int) error {
	at := int(dir.Fd())
	var stat unix.Stat_t
	err := unix.Fstatat(at, name, &stat, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, os.ErrNotExist) || err == nil && uint64(stat.Dev) != c.device { //nolint:unconvert // narrower on some architectures
		return nil
	}
	if err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		c.used += stat.Blocks * blockSize / int64(max(stat.Nlink, 1))
		return nil
	}
	c.used += stat.Blocks * blockSize
	fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return nil // it was replaced meanwhile
	}
	if err != nil {
		return err
	}
	below := os.NewFile(uintptr(fd), name)
	defer below.Close()
	return c.directory(below, depth+1)
}

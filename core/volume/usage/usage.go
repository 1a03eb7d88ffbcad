package usage

import (
	"context"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

const (
	// maxDepth is the maximum depth of nested directories; each open one costs a file descriptor.
	maxDepth = 512
	// entriesAtOnce is how many entries of a directory are read at once.
	entriesAtOnce = 1024
	// blockSize is the unit of a file's block count, whatever the block size of its file system is.
	blockSize = 512
)

// Usage is the result of Count.
type Usage struct {
	// Bytes is the space used on the disk: whole blocks, without the holes of files.
	Bytes int64
	// Inodes is the number of files and directories, with the directory itself. A file with several
	// names counts for each of them.
	Inodes int64
	// Deep is true if directories are nested more than 512 levels deep; those below were not
	// counted.
	Deep bool
}

// Count returns how much the files below a directory use. It stops once that is more than most, or
// directories are nested too deep. A directory that does not exist uses nothing. It follows no
// link, and does not count what is mounted below the directory. It returns an error if ctx is done or
// something could not be counted.
func Count(ctx context.Context, path string, most int64) (Usage, error) {
	c := count{ctx: ctx, most: most}
	err := c.root(path)
	return Usage{Bytes: c.used, Inodes: c.inodes, Deep: c.deep}, err
}

type count struct {
	ctx        context.Context
	used, most int64
	inodes     int64
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
	c.inodes++
	return c.directory(dir, 0)
}

// directory counts the content of a directory. A file with several names counts for each of them
// with its share. It returns ctx's error if ctx is done, else the first error of an entry that was
// left out.
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
			if err := c.entry(dir, e, depth); err != nil && first == nil {
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

// entry counts an entry of a directory, with what is below it. A directory is opened before anything
// of it is read, and not at all if something is mounted there: the server of a network file system may
// never answer.
func (c *count) entry(dir *os.File, e os.DirEntry, depth int) error {
	if e.IsDir() {
		return c.below(dir, e.Name(), depth)
	}
	var stat unix.Stat_t
	err := unix.Fstatat(int(dir.Fd()), e.Name(), &stat, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, os.ErrNotExist) || err == nil && c.isForeign(&stat) {
		return nil
	}
	if err != nil {
		return err
	}
	c.inodes++
	c.used += stat.Blocks * blockSize / int64(max(stat.Nlink, 1))
	return nil
}

func (c *count) below(parent *os.File, name string, depth int) error {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Openat2(int(parent.Fd()), name, &unix.OpenHow{Flags: flags, Resolve: unix.RESOLVE_NO_XDEV})
	if errors.Is(err, unix.ENOSYS) { // before Linux 5.6
		fd, err = unix.Openat(int(parent.Fd()), name, flags, 0)
	}
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EXDEV) {
		return nil // it was replaced meanwhile, or something is mounted there
	}
	if err != nil {
		return err
	}
	dir := os.NewFile(uintptr(fd), name)
	defer dir.Close()
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil || c.isForeign(&stat) {
		return err
	}
	c.inodes++
	c.used += stat.Blocks * blockSize
	return c.directory(dir, depth+1)
}

func (c *count) isForeign(stat *unix.Stat_t) bool {
	return uint64(stat.Dev) != c.device //nolint:unconvert // narrower on some architectures
}

package volume

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Excess is an emptyDir whose files take more room than its limit, or cannot be counted.
type Excess struct {
	Volume string
	Limit  resource.Quantity
	// Deep is true where directories lie in each other too deep to be counted.
	Deep bool
}

const (
	// maxDepth is how deep directories may lie in each other; each open one costs a file descriptor.
	maxDepth = 512
	// entriesAtOnce is how many entries of a directory are in memory.
	entriesAtOnce = 1024
	// countTime is how long the files of one pod are counted.
	countTime = 30 * time.Second
	// blockSize is the unit of a file's blocks, whatever those of its file system are.
	blockSize = 512
)

// Limited reports whether a pod has an emptyDir on the disk with a limit. One in memory cannot grow beyond its own, and a limit
// of 0 is none, as with a kubelet.
func Limited(p *v1.Pod) bool {
	for i := range p.Spec.Volumes {
		if limit(&p.Spec.Volumes[i]) != nil {
			return true
		}
	}
	return false
}

func limit(v *v1.Volume) *resource.Quantity {
	if v.EmptyDir == nil || v.EmptyDir.Medium != v1.StorageMediumDefault || v.EmptyDir.SizeLimit == nil || v.EmptyDir.SizeLimit.Sign() <= 0 {
		return nil
	}
	return v.EmptyDir.SizeLimit
}

// Over returns the first emptyDir of a pod that is beyond its limit, nil for none. It counts for half a minute at most; the
// error says what could not be counted.
func (v *Volumes) Over(ctx context.Context, p *v1.Pod) (*Excess, error) {
	ctx, cancel := context.WithTimeout(ctx, countTime)
	defer cancel()
	var errs []error
	for i := range p.Spec.Volumes {
		volume := &p.Spec.Volumes[i]
		limit := limit(volume)
		if limit == nil {
			continue
		}
		c := count{ctx: ctx, most: limit.Value()}
		switch err := c.volume(v.layout.VolumeDir(p.UID, emptyDirPlugin, volume.Name)); {
		case c.used > c.most, c.deep:
			return &Excess{volume.Name, *limit, c.deep}, nil
		case err != nil:
			errs = append(errs, fmt.Errorf("volume %q: %w", volume.Name, err))
		}
	}
	return nil, errors.Join(errs...)
}

// count adds up what the files of a volume take of its disk. A workload may change them all the while: no link is followed, and
// what cannot be read is left out.
type count struct {
	ctx context.Context
	// used is what was counted, in bytes; beyond most nothing more is.
	used, most int64
	device     uint64
	deep       bool
}

func (c *count) volume(path string) error {
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
	if depth == maxDepth {
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

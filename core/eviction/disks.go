package eviction

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wardlet/wardlet/core/eviction/threshold"
)

// disk is the state of a file system. All amounts are in bytes or inodes.
type disk struct {
	available, capacity int64
	// freeInodes and inodes are 0 on a file system without a limit on inodes.
	freeInodes, inodes int64
	device             uint64
}

func (d *disk) addTo(seen Observations, space, inodes threshold.Signal) {
	if d.capacity > 0 {
		seen[space] = Observation{d.available, d.capacity}
	}
	if d.inodes > 0 {
		seen[inodes] = Observation{d.freeInodes, d.inodes}
	}
}

// statDisk reads the state of the file system that has path. It blocks for as long as the file
// system does not answer, for example one on a server that is gone.
func statDisk(path string) (disk, error) {
	var fs unix.Statfs_t
	var st unix.Stat_t
	if err := unix.Statfs(path, &fs); err != nil {
		return disk{}, fmt.Errorf("state of the file system of %s: %w", path, err)
	}
	if err := unix.Stat(path, &st); err != nil {
		return disk{}, fmt.Errorf("device of %s: %w", path, err)
	}
	size := int64(fs.Frsize) //nolint:unconvert // the types differ by platform
	return disk{
		available: int64(fs.Bavail) * size, capacity: int64(fs.Blocks) * size,
		freeInodes: int64(fs.Ffree), inodes: int64(fs.Files), device: uint64(st.Dev), //nolint:unconvert // the types differ by platform
	}, nil
}

// disks reads file systems and does not wait long for one that does not answer. Each file system
// has at most one read in progress, which ends only when the kernel answers.
type disks struct {
	read    func(path string) (disk, error)
	pending map[string]chan diskRead
}

type diskRead struct {
	disk disk
	err  error
}

// of returns the state of the file system that has path.
func (d *disks) of(ctx context.Context, path string) (disk, error) {
	answer, waits := d.pending[path]
	if !waits {
		answer = make(chan diskRead, 1)
		if d.pending == nil {
			d.pending = map[string]chan diskRead{}
		}
		d.pending[path] = answer
		go func() {
			state, err := d.read(path)
			answer <- diskRead{state, err}
		}()
	}
	timer := time.NewTimer(callTime)
	defer timer.Stop()
	select {
	case r := <-answer:
		delete(d.pending, path)
		if waits { // the answer is as old as the question
			return d.of(ctx, path)
		}
		return r.disk, r.err
	case <-timer.C:
		return disk{}, fmt.Errorf("the file system of %s does not answer", path)
	case <-ctx.Done():
		return disk{}, ctx.Err()
	}
}

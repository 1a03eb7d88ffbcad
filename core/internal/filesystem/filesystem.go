// Package filesystem reads how full file systems are, and does not wait long for one that does not
// answer, for example one of a server that is gone.
package filesystem

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Timeout is for how long a file system may not answer.
const Timeout = 2 * time.Second

// State is the state of a file system. Sizes are in bytes.
type State struct {
	Capacity int64
	// Free is unused. Available is the part of Free that is not reserved for root.
	Free, Available int64
	// Inodes and FreeInodes are 0 on a file system without a limit on inodes.
	Inodes, FreeInodes int64
	// Device is the number of the device.
	Device uint64
}

// Used returns the part of the capacity that is in use.
func (s *State) Used() int64 { return s.Capacity - s.Free }

// Read reads the state of the file system of path. It blocks for as long as the file system does
// not answer.
func Read(path string) (State, error) {
	var fs unix.Statfs_t
	var st unix.Stat_t
	if err := unix.Statfs(path, &fs); err != nil {
		return State{}, fmt.Errorf("state of the file system of %s: %w", path, err)
	}
	if err := unix.Stat(path, &st); err != nil {
		return State{}, fmt.Errorf("device of %s: %w", path, err)
	}
	size := int64(fs.Frsize) //nolint:unconvert // the types differ by platform
	return State{
		Capacity: int64(fs.Blocks) * size, Free: int64(fs.Bfree) * size, Available: int64(fs.Bavail) * size,
		Inodes: int64(fs.Files), FreeInodes: int64(fs.Ffree), Device: uint64(st.Dev), //nolint:unconvert // the types differ by platform
	}, nil
}

// Reader reads the states of file systems. At most one read of each path is in progress, on a
// goroutine that ends when the kernel answers. The zero value is ready for use, and it is safe for
// concurrent use.
type Reader struct {
	// ReadFunc takes the place of Read in tests.
	ReadFunc func(path string) (State, error)

	mu      sync.Mutex
	pending map[string]*read
}

// read is a read in progress. Its result may be used after done is closed.
type read struct {
	done  chan struct{}
	state State
	err   error
}

// Of returns the state of the file system of path. It returns an error if the file system does not
// answer within Timeout, or before ctx ends.
func (r *Reader) Of(ctx context.Context, path string) (State, error) {
	one := r.start(path)
	timer := time.NewTimer(Timeout)
	defer timer.Stop()
	select {
	case <-one.done:
		return one.state, one.err
	case <-timer.C:
		return State{}, fmt.Errorf("the file system of %s does not answer", path)
	case <-ctx.Done():
		return State{}, ctx.Err()
	}
}

// start starts a read of path, or returns the one that is in progress.
func (r *Reader) start(path string) *read {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one := r.pending[path]; one != nil {
		return one
	}
	one := &read{done: make(chan struct{})}
	if r.pending == nil {
		r.pending = map[string]*read{}
	}
	r.pending[path] = one
	of := r.ReadFunc
	if of == nil {
		of = Read
	}
	go func() {
		one.state, one.err = of(path)
		r.mu.Lock()
		delete(r.pending, path)
		r.mu.Unlock()
		close(one.done)
	}()
	return one
}

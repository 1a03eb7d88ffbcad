package eviction

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/eviction/threshold"
	"github.com/wardlet/wardlet/core/internal/filesystem"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/stats/kernel"
)

// Layer is what the writable layer of a container uses on the file system of images.
type Layer struct{ Bytes, Inodes int64 }

// MachineConfig holds the settings and dependencies of a Machine. ImageFS, Containers and Layers are
// optional.
type MachineConfig struct {
	Kernel *kernel.Kernel
	// CgroupRoot returns the cgroup of all pods, as the kernel names it.
	CgroupRoot func() string
	// MemoryLimit is the memory in bytes that all pods together may use, 0 for no limit.
	MemoryLimit int64
	Layout      pod.Layout
	// ImageFS returns a directory on the file system where the runtime keeps images, empty if the
	// runtime does not say.
	ImageFS func(ctx context.Context) (path string, err error)
	// Containers returns the names of a pod's containers by ID.
	Containers func(uid types.UID) map[string]string
	// Layers returns the writable layers of containers by ID.
	Layers func(ctx context.Context) (map[string]Layer, error)
	Log    *slog.Logger
	// Now is the wall clock; its times carry a monotonic reading.
	Now func() time.Time
}

const (
	// callTime limits a call of the runtime.
	callTime = 2 * time.Second
	// imageFSTime is for how long the directory of images is not asked for again.
	imageFSTime = 10 * time.Minute
)

// Machine is the Node on a real machine. It is used by one goroutine, that of Manager.Run.
type Machine struct {
	cfg   MachineConfig
	disks filesystem.Reader
	// imageFS is the directory of images and when it was asked for; empty if it is not known.
	imageFS string
	asked   time.Time
	// faults are the last logged faults, by what cannot be read.
	faults map[string]string

	mu sync.Mutex
	// dedicated is what DedicatedImageFS returns.
	dedicated bool
}

// NewMachine makes a Machine.
func NewMachine(cfg MachineConfig) *Machine {
	return &Machine{cfg: cfg, faults: map[string]string{}}
}

// Observe implements Node. What cannot be read is left out, and is logged once.
func (m *Machine) Observe(ctx context.Context) Observations {
	seen := Observations{}
	memory, err := m.cfg.Kernel.Memory()
	if m.readable("memory", err) {
		seen[threshold.MemoryAvailable] = Observation{int64(memory.Available()), int64(memory.Total)}
	}
	if m.cfg.MemoryLimit > 0 {
		pods := m.cfg.Kernel.Use(m.cfg.CgroupRoot())
		if used := usageOf(pods.WorkingSet()); !used.Unknown { // there is no cgroup before the first pod
			seen[threshold.AllocatableMemoryAvailable] = Observation{max(m.cfg.MemoryLimit-used.Total, 0), m.cfg.MemoryLimit}
		}
	}
	tasks, most, err := m.cfg.Kernel.Tasks()
	if m.readable("process IDs", err) {
		seen[threshold.PIDAvailable] = Observation{max(most-tasks, 0), most}
	}
	nodeFS, err := m.disks.Of(ctx, m.cfg.Layout.PodRoot)
	nodeRead := m.readable("the file system of pods", err)
	if nodeRead {
		addTo(seen, &nodeFS, threshold.NodeFSAvailable, threshold.NodeFSInodesFree)
	}
	path, err := m.imageFSPath(ctx)
	if path == "" {
		m.readable("the file system of images", err)
		return seen
	}
	imageFS, err := m.disks.Of(ctx, path)
	if m.readable("the file system of images", err) {
		addTo(seen, &imageFS, threshold.ImageFSAvailable, threshold.ImageFSInodesFree)
		if nodeRead {
			m.mu.Lock()
			m.dedicated = imageFS.Device != nodeFS.Device
			m.mu.Unlock()
		}
	}
	return seen
}

// addTo adds the state of a file system.
func addTo(seen Observations, fs *filesystem.State, space, inodes threshold.Signal) {
	if fs.Capacity > 0 {
		seen[space] = Observation{fs.Available, fs.Capacity}
	}
	if fs.Inodes > 0 {
		seen[inodes] = Observation{fs.FreeInodes, fs.Inodes}
	}
}

// DedicatedImageFS implements Node. It is false until both file systems have been read.
func (m *Machine) DedicatedImageFS() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dedicated
}

// readable logs a fault once, and when it is over. It reports whether there is none.
func (m *Machine) readable(what string, err error) bool {
	before := m.faults[what]
	switch {
	case errors.Is(err, context.Canceled):
		return false
	case err == nil && before != "":
		delete(m.faults, what)
		m.cfg.Log.Info("the state of the node can be read again", "of", what)
	case err != nil && err.Error() != before:
		m.faults[what] = err.Error()
		m.cfg.Log.Warn("part of the node's state cannot be read; no pod is evicted for it", "of", what, "err", err)
	}
	return err == nil
}

var errNoImageFS = errors.New("the runtime does not say where its images are")

// imageFSPath returns the directory of images. If the runtime does not answer, it returns the last
// known one.
func (m *Machine) imageFSPath(ctx context.Context) (string, error) {
	if m.cfg.ImageFS == nil {
		return "", nil
	}
	now := m.cfg.Now()
	if m.imageFS != "" && now.Sub(m.asked) < imageFSTime {
		return m.imageFS, nil
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	path, err := m.cfg.ImageFS(ctx)
	switch {
	case err == nil && path != "":
		m.imageFS, m.asked = path, now
	case err == nil:
		err = errNoImageFS
	}
	return m.imageFS, err
}

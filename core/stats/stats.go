package stats

import (
	"context"
	"log/slog"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/internal/filesystem"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/runtime"
	"github.com/wardlet/wardlet/core/stats/kernel"
	"github.com/wardlet/wardlet/core/status"
)

const (
	// fresh is how long a reading is shared.
	fresh = 5 * time.Second
	// runtimeTime limits the calls to the runtime for one reading. After a failure, the runtime is
	// called again after runtimeAgain.
	runtimeTime  = 5 * time.Second
	runtimeAgain = 30 * time.Second
	// shortest and longest limit the time between two readings from which a rate is computed.
	shortest = time.Second
	longest  = 2 * time.Minute
)

// Runtime has the runtime's own statistics.
type Runtime interface {
	Usage(ctx context.Context) (*runtime.Usage, error)
	Stores(ctx context.Context) (images, containers runtime.Store, err error)
}

// Config is the configuration of Stats.
type Config struct {
	// Node is the name of the node.
	Node    string
	Runtime Runtime
	Kernel  *kernel.Kernel
	// Observed returns the pods of this installation as they were last inspected.
	Observed func() []status.ObservedPod
	// Pods returns the specifications of the pods of this node, for their volumes.
	Pods   func() []*v1.Pod
	Layout pod.Layout
	// CgroupRoot returns the cgroup of all pods, as the kernel names it.
	CgroupRoot func() string
	// PID is the agent's process.
	PID int
	// RuntimeSocket is the path of the runtime's socket, by which its process is known; empty if the
	// process of the runtime is not measured.
	RuntimeSocket string
	// CPUs is the number of CPUs.
	CPUs   int
	Logger *slog.Logger
	Now    func() time.Time
}

// Stats measures resources.
type Stats struct {
	cfg     Config
	volumes *volumes

	// turn has one place; the goroutine that has it may use the fields below.
	turn chan struct{}
	// last is the newest reading, and detailed the same with everything that is not needed for CPU and
	// memory. Both are nil at first, and never change.
	last     *Reading
	detailed *Reading
	// counters are the CPU times of the last reading.
	counters map[string]sample
	// away is the time until which the runtime is not called, after an error.
	away time.Time
	// said is the last error of the runtime that was logged.
	said string
	peer peer
	// files reads the states of file systems.
	files filesystem.Reader
}

// New returns statistics that are not measured yet.
func New(cfg Config) *Stats {
	s := &Stats{cfg: cfg, turn: make(chan struct{}, 1)}
	s.volumes = &volumes{cfg: &s.cfg, wanted: make(chan struct{}, 1), known: map[volumeKey]*volumeUse{}}
	return s
}

// Run counts the files of volumes when readings ask for it, until ctx ends.
func (s *Stats) Run(ctx context.Context) { s.volumes.run(ctx) }

// Basic returns a reading of CPU and memory that is at most five seconds old.
func (s *Stats) Basic(ctx context.Context) (*Reading, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.end()
	return s.read(ctx, false), nil
}

// Detailed returns a reading of everything that is at most five seconds old.
func (s *Stats) Detailed(ctx context.Context) (*Reading, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.end()
	r := s.read(ctx, false)
	if s.detailed == nil || s.detailed.At != r.At {
		s.detailed = s.detail(ctx, r)
	}
	return s.detailed, nil
}

// Rated is like Basic, and returns a reading with rates. If none was made in the last two minutes,
// that takes a second.
func (s *Stats) Rated(ctx context.Context) (*Reading, error) {
	r, err := s.Basic(ctx)
	if err != nil || r.Rated {
		return r, err
	}
	timer := time.NewTimer(shortest)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.end()
	return s.read(ctx, !s.last.Rated), nil
}

// begin waits for the turn.
func (s *Stats) begin(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Stats) end() { <-s.turn }

// read returns the last reading while it is fresh and need not be new, else another one. The caller
// has the turn. Others wait for the result, so a caller that leaves does not end it.
func (s *Stats) read(ctx context.Context, anew bool) *Reading {
	now := s.cfg.Now()
	if age := now.Sub(s.lastAt()); s.last != nil && !anew && age >= 0 && age < fresh {
		return s.last
	}
	s.last = s.take(context.WithoutCancel(ctx), now)
	return s.last
}

func (s *Stats) lastAt() time.Time {
	if s.last == nil {
		return time.Time{}
	}
	return s.last.At
}

package rotate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/internal/faultlog"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

const (
	// interval is the time between two checks of the sizes of logs. It is shorter, but not shorter
	// than minInterval, while a log would grow too large by the next check.
	interval    = time.Second
	minInterval = 100 * time.Millisecond
	// retryInterval is the time between two attempts for a log that the runtime does not reopen.
	retryInterval = 10 * time.Second
	// reopenTimeout limits a call to the runtime.
	reopenTimeout = 10 * time.Second
)

// ReasonFailed is the reason of the event about a log that cannot be rotated.
const ReasonFailed = "FailedLogRotation"

// Config is the configuration of a Rotator. All fields are required.
type Config struct {
	// Pods returns the last inspected state of the pods of this installation. It does not block.
	Pods func() []status.ObservedPod
	// Reopen makes the runtime reopen a container's log, by the container's ID.
	Reopen func(ctx context.Context, id string) error
	Events status.Recorder
	// MaxSize is the size, in bytes, at which a log is rotated; at least 1. Less than 0: logs are
	// never rotated.
	MaxSize int64
	// MaxFiles is the maximum number of files for a container's log, including the current one; at
	// least 2.
	MaxFiles int
	Log      *slog.Logger
	// Now is the wall clock; its times carry a monotonic reading.
	Now func() time.Time
}

// Rotator rotates the logs of running containers.
type Rotator struct {
	cfg Config
	// logs has the observed state of each container's log, by the container's ID.
	logs map[string]*logState
	// looked is the time of the last check, zero before the first.
	looked time.Time
}

// logState is the observed state of a log.
type logState struct {
	// size is the log's size at the last check, in bytes; -1 before the first.
	size int64
	// missing is true if the last check found no log.
	missing bool
	// retryAt is the time of the next attempt after a failed rename or reopen; zero if none failed.
	retryAt time.Time
	faults  faultlog.Pace
}

// New makes a Rotator; Run starts it.
func New(cfg Config) *Rotator { return &Rotator{cfg: cfg, logs: map[string]*logState{}} }

// Run rotates logs until ctx ends.
func (r *Rotator) Run(ctx context.Context) {
	if r.cfg.MaxSize < 0 {
		<-ctx.Done()
		return
	}
	timer := time.NewTimer(interval)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			timer.Reset(r.look(ctx))
		}
	}
}

// look rotates the logs that have become too large, and returns the delay until the next check.
func (r *Rotator) look(ctx context.Context) time.Duration {
	now := r.cfg.Now()
	elapsed := now.Sub(r.looked)
	r.looked = now
	next := interval
	seen := map[string]*logState{}
	for _, p := range r.cfg.Pods() {
		for i := range p.Containers {
			c := &p.Containers[i]
			if c.State != status.StateRunning || c.LogPath == "" {
				continue
			}
			l := r.logs[c.ID]
			if l == nil {
				l = &logState{size: -1}
				next = minInterval // to measure how fast it grows
			}
			seen[c.ID] = l
			if ctx.Err() != nil || now.Before(l.retryAt) {
				continue
			}
			grown, err := r.check(ctx, l, c)
			r.report(ctx, l, &p, c, err)
			if grown > 0 {
				left := max(r.cfg.MaxSize-l.size, 0)
				next = min(next, time.Duration(float64(elapsed)*float64(left)/float64(grown)))
			}
		}
	}
	r.logs = seen
	return max(next, minInterval)
}

// check rotates a log if it is too large, and makes the runtime reopen one that is missing, because
// an agent may have been killed during a rotation. It returns the growth of the log, in bytes.
func (r *Rotator) check(ctx context.Context, l *logState, c *status.ObservedContainer) (grown int64, err error) {
	info, err := os.Lstat(c.LogPath)
	if errors.Is(err, fs.ErrNotExist) {
		if !l.missing {
			l.missing = true // the container may just be gone
			return 0, nil
		}
		err := r.reopen(ctx, c.ID)
		if err != nil {
			l.retryAt = r.cfg.Now().Add(retryInterval)
		}
		return 0, err
	}
	l.missing = false
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, fmt.Errorf("%s is not a regular file, its mode is %v; remove it", c.LogPath, info.Mode())
	}
	if l.size >= 0 {
		grown = max(info.Size()-l.size, 0)
	}
	l.size = info.Size()
	if l.size < r.cfg.MaxSize {
		return grown, nil
	}
	rotated, err := r.rotate(ctx, c.LogPath, c.ID)
	if !rotated {
		l.retryAt = r.cfg.Now().Add(retryInterval)
		return 0, err
	}
	l.size = 0
	return grown, err
}

// reopen makes the runtime reopen a log, even if ctx has ended.
func (r *Rotator) reopen(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reopenTimeout)
	defer cancel()
	if err := r.cfg.Reopen(ctx, id); err != nil {
		return fmt.Errorf("opening the log again: %w", err)
	}
	return nil
}

// report records that a log cannot be rotated, at most once a minute, and that it can be again.
func (r *Rotator) report(ctx context.Context, l *logState, p *status.ObservedPod, c *status.ObservedContainer, err error) {
	if err == nil {
		if l.faults.Over() {
			r.cfg.Log.Info("log of a container is rotated again", "pod", p.Namespace+"/"+p.Name, "uid", p.UID, "container", c.Name)
		}
		return
	}
	if ctx.Err() != nil || !l.faults.Due("", err.Error(), r.cfg.Now()) {
		return
	}
	about := &v1.Pod{ObjectMeta: metav1.ObjectMeta{
		UID: p.UID, Namespace: p.Namespace, Name: p.Name, Annotations: map[string]string{pod.AnnotationSource: p.Source()},
	}}
	status.ContainerEvent(r.cfg.Events, about, c.Name, v1.EventTypeWarning, ReasonFailed, fmt.Sprintf("Log of container %s cannot be rotated: %v", c.Name, err))
}

package image

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

const (
	// growthOfProgress is by how many bytes the image file system has to grow to count as progress
	// of a pull: less than most connections transfer in a ProgressTimeout, and more than an idle
	// machine writes.
	growthOfProgress = 1 << 20
	// looksPerTimeout is how often the file system is read in a ProgressTimeout.
	looksPerTimeout = 20
)

// stalledError is the error of a pull without progress.
type stalledError struct {
	name  string
	limit time.Duration
}

func (e *stalledError) Error() string {
	return fmt.Sprintf("pull image %q: no progress for %s: the image file system did not grow", e.name, e.limit)
}

// watched pulls an image and cancels the pull if it makes no progress.
func (u *Puller) watched(ctx context.Context, name string, auth *pod.RegistryAuth, waiting *pending) (string, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { u.watch(ctx, cancel, name, waiting) })
	id, err := u.cfg.Runtime.PullImage(ctx, name, auth)
	cancel(nil)
	watch.Wait()
	if stalled, ok := errors.AsType[*stalledError](context.Cause(ctx)); ok && err != nil {
		return "", stalled
	}
	return id, err
}

// watch reads the image file system until ctx is done. If the file system cannot be read, the pull
// is not cancelled, because its progress is unknown.
func (u *Puller) watch(ctx context.Context, cancel context.CancelCauseFunc, name string, waiting *pending) {
	limit := cmp.Or(waiting.limit, u.cfg.ProgressTimeout)
	ticks := time.NewTicker(max(limit/looksPerTimeout, time.Second))
	defer ticks.Stop()
	grew := u.cfg.Now()
	mark, err := u.cfg.Runtime.ImageStoreBytes(ctx)
	known, first := err == nil, mark
	for {
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return
		}
		used, err := u.cfg.Runtime.ImageStoreBytes(ctx)
		switch now := u.cfg.Now(); {
		case err != nil:
			known = false
		case !known:
			known, first, mark, grew = true, used, used, now
		case used >= mark+growthOfProgress:
			mark, grew = used, now
		case now.Sub(grew) >= limit:
			cancel(&stalledError{name, limit})
			return
		default:
			mark = min(mark, used) // something was removed
		}
		if known {
			waiting.grown.Store(max(used-first, 0))
		}
	}
}

// Pull is an image that a container waits for.
type Pull struct {
	Image, Container string
	// Since is when the container began to wait. Began is when the pull began, zero while it waits
	// for its turn.
	Since, Began time.Time
	// Grown is by how many bytes the image file system has grown since Began, whatever wrote them.
	Grown int64
}

// Pulling returns the images that the containers of a pod wait for, in the order in which they
// began to wait.
func (u *Puller) Pulling(uid types.UID) []Pull { return u.pulls.of(uid) }

// pulls are the pulls that wait or are under way.
type pulls struct {
	mu  sync.Mutex
	all []*pending
}

// pending is a pull that waits or is under way.
type pending struct {
	uid  types.UID
	pull Pull
	// limit is how long the pull may continue without progress, 0 for ProgressTimeout.
	limit time.Duration
	began atomic.Pointer[time.Time]
	grown atomic.Int64
}

func (p *pending) begin(at time.Time) { p.began.Store(&at) }

func (p *pulls) add(r *request, at time.Time) *pending {
	one := &pending{uid: r.pod.UID, pull: Pull{Image: r.name, Container: r.container.Name, Since: at}}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, one)
	return one
}

func (p *pulls) remove(one *pending) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = slices.DeleteFunc(p.all, func(x *pending) bool { return x == one })
}

func (p *pulls) of(uid types.UID) []Pull {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []Pull
	for _, one := range p.all {
		if one.uid != uid {
			continue
		}
		pull := one.pull
		if began := one.began.Load(); began != nil {
			pull.Began = *began
		}
		pull.Grown = one.grown.Load()
		list = append(list, pull)
	}
	return list
}

package stats

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wardlet/wardlet/core/runtime"
)

// counting is a runtime that counts how often it is called.
type counting struct{ calls int }

func (c *counting) Usage(context.Context) (*runtime.Usage, error) {
	c.calls++
	return &runtime.Usage{}, nil
}

func (c *counting) Stores(context.Context) (images, containers runtime.Store, err error) {
	return images, containers, errors.New("there is none")
}

// TestRated reads twice if nothing was read before, and once after that.
func TestRated(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	synctest.Test(t, func(t *testing.T) {
		cri := &counting{}
		cfg := r.cfg
		cfg.Runtime, cfg.Now = cri, time.Now
		s := New(cfg)
		for _, step := range []struct {
			name        string
			after, took time.Duration
			calls       int
		}{
			{"the first time", 0, shortest, 2},
			{"at once again", 0, 0, 2},
			{"soon", time.Minute, 0, 3},
			{"after a long time", time.Hour, shortest, 5},
		} {
			time.Sleep(step.after) // the bubble's clock
			began := time.Now()
			got, err := s.Rated(t.Context())
			if took := time.Since(began); err != nil || !got.Rated || took != step.took || cri.calls != step.calls {
				t.Errorf("%s: %+v, %v, after %v and %d calls; want %v and %d", step.name, got, err, took, cri.calls, step.took, step.calls)
			}
		}
		time.Sleep(time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), shortest/2)
		defer cancel()
		if _, err := s.Rated(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a caller that leaves: %v", err)
		}
	})
}

package main

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wardlet/wardlet/test/harness"
)

func TestObserve(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		look func(ctx context.Context, times int) error
		want string
		took time.Duration
	}{
		"returns as soon as it is seen": {
			func(_ context.Context, times int) error {
				if times < 3 {
					return errors.New("not yet")
				}
				return nil
			}, "", 2 * poll,
		},
		"says what was seen last when the time is over": {
			func(_ context.Context, times int) error { return fmt.Errorf("at %d", min(times, 2)) },
			"waited in vain until it is so: at 2", time.Second,
		},
		"does not take the end of its own time for something seen": {
			func(ctx context.Context, times int) error {
				if times == 1 {
					return errors.New("not yet")
				}
				<-ctx.Done()
				return ctx.Err()
			}, "waited in vain until it is so: not yet", time.Second,
		},
		"does not wait for an agent that ended": {
			func(context.Context, int) error { return fmt.Errorf("ask: %w: exit status 1", harness.ErrEnded) },
			"it is so: ask: the agent ended by itself: exit status 1", 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				began, times := time.Now(), 0
				err := observe(ctx, "it is so", func(ctx context.Context) error { times++; return test.look(ctx, times) })
				if got := fmt.Sprint(err); got != test.want && (err != nil || test.want != "") {
					t.Errorf("error is %q, want %q", got, test.want)
				}
				if took := time.Since(began); took != test.took {
					t.Errorf("took %s, want %s", took, test.took)
				}
			})
		})
	}
}

func TestRemainsLooksTheWholeTime(t *testing.T) {
	t.Parallel()
	for _, failing := range []int{0, 1, 5} {
		t.Run(fmt.Sprint("the look that fails is ", failing), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began, times := time.Now(), 0
				err := remains(t.Context(), "pod", func(context.Context) error {
					if times++; times == failing {
						return errors.New("changed")
					}
					return nil
				})
				took := time.Since(began)
				switch {
				case failing == 0 && (err != nil || took < steady):
					t.Errorf("error is %v after %s", err, took)
				case failing > 0 && (fmt.Sprint(err) != "pod: changed" || times != failing):
					t.Errorf("error is %v after %d looks", err, times)
				}
			})
		})
	}
}

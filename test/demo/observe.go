package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wardlet/wardlet/test/harness"
)

// poll is the interval at which state without events is polled.
const poll = 100 * time.Millisecond

// steady is how long something must stay the same to count as unchanged.
const steady = time.Second

// observe calls look until it returns no error. If ctx ends first, the returned error contains the
// last error of look. If the agent has exited, observe returns at once.
func observe(ctx context.Context, what string, look func(ctx context.Context) error) error {
	var seen error
	for {
		err := look(ctx)
		if err == nil {
			return nil
		}
		if errors.Is(err, harness.ErrEnded) {
			return fmt.Errorf("%s: %w", what, err)
		}
		// An error that occurred because ctx has ended does not show what was seen.
		if seen == nil || ctx.Err() == nil {
			seen = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited in vain until %s: %w", what, seen)
		case <-time.After(poll):
		}
	}
}

// remains calls look again and again for the time steady. It returns the first error.
func remains(ctx context.Context, what string, look func(ctx context.Context) error) error {
	for end := time.Now().Add(steady); time.Now().Before(end); time.Sleep(poll) {
		if err := look(ctx); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	return nil
}

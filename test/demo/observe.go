package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wardlet/wardlet/test/harness"
)

// poll is how often something is looked at that sends no events.
const poll = 100 * time.Millisecond

// steady is how long something must stay as it is to count as unchanged.
const steady = time.Second

// observe looks until look returns no error. When the time is over the last error says what was seen instead; an agent that
// ended is not waited for.
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
		// A look that was cut short says nothing.
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

// remains looks for as long as steady; the first error is what changed.
func remains(ctx context.Context, what string, look func(ctx context.Context) error) error {
	for end := time.Now().Add(steady); time.Now().Before(end); time.Sleep(poll) {
		if err := look(ctx); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	return nil
}

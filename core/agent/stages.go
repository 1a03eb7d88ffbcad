package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// stage is a part that runs for as long as the agent does.
type stage struct {
	name string
	// run works until ctx ends. Coming back earlier is a failure.
	run func(ctx context.Context) error
}

// runStages starts all stages in order. When ctx ends, or one of them ends by
// itself, they are stopped in the reverse order, each one waited for. It gives
// the failure, nil where ctx was the reason.
func runStages(ctx context.Context, stages []stage) error {
	failed := make(chan error, len(stages))
	stops := make([]func(), 0, len(stages))
	for _, s := range stages {
		// A stage outlives ctx until it is its turn to stop.
		own, cancel := context.WithCancel(context.WithoutCancel(ctx))
		var done sync.WaitGroup
		done.Go(func() {
			err := s.run(own)
			if own.Err() == nil {
				failed <- fmt.Errorf("%s ended: %w", s.name, errors.Join(err, errStage))
			}
		})
		stops = append(stops, func() { cancel(); done.Wait() })
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	for _, stop := range slices.Backward(stops) {
		stop()
	}
	return err
}

// errStage marks the end of a part that should have gone on.
var errStage = errors.New("it should run for as long as the agent does")

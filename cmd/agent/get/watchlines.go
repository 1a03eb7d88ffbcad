package get

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/printable"
	"github.com/wardlet/wardlet/core/server/client"
)

// lineReader reads the lines of a watch from the agent.
type lineReader struct {
	// take is called with each line. batch is called after each group of lines that belong together,
	// and covers all lines since its last call. Both are called from one goroutine.
	take  func(client.Line) error
	batch func() error
	// poll is the interval at which batch is also called after the first batch, because notes may
	// change with time alone. Zero means never.
	poll time.Duration
}

// read reads the answer to path until the agent closes it or ctx ends.
func (r *lineReader) read(ctx context.Context, c *client.Client, path string) error {
	ctx, cancel := context.WithCancel(ctx)
	var reading sync.WaitGroup
	defer reading.Wait()
	defer cancel()
	lines, ended := make(chan client.Line), make(chan error, 1)
	reading.Go(func() {
		ended <- c.Watch(ctx, path, func(line client.Line) error {
			select {
			case lines <- line:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	})
	var again <-chan time.Time
	if r.poll > 0 {
		tick := time.NewTicker(r.poll)
		defer tick.Stop()
		again = tick.C
	}
	for whole := false; ; {
		var err error
		select {
		case line := <-lines:
			whole = line.Type == api.WatchBookmark
			err = r.line(line)
		case <-again:
			if whole {
				err = r.batch()
			}
		case err = <-ended:
		}
		if err != nil {
			return err
		}
	}
}

func (r *lineReader) line(line client.Line) error {
	switch line.Type {
	case api.WatchBookmark:
		return r.batch()
	case api.WatchError:
		why := "it does not say why"
		_ = json.Unmarshal(line.Object, &why) // on failure, why keeps its default
		return errors.New("the watch is over: " + printable.Line(why) + "; watch again once an agent runs")
	}
	return r.take(line)
}

// decodeLine decodes the object of a line.
func decodeLine(line client.Line, into any) error {
	if err := json.Unmarshal(line.Object, into); err != nil {
		return fmt.Errorf("the agent sent something that this program does not understand (%s): %w", line.Type, err)
	}
	return nil
}

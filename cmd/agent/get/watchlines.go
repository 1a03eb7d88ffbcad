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

// lineReader reads the lines of a watch of the agent.
type lineReader struct {
	// take is called with each line, batch after lines that belong together: all
	// since its last call. Both are called from one goroutine.
	take  func(client.Line) error
	batch func() error
	// poll is how often batch is called, too, once the first batch is over: what is
	// said of something may change with time alone. Zero for never.
	poll time.Duration
}

// read reads the answer to path until the agent ends it, or ctx does.
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
		_ = json.Unmarshal(line.Object, &why) // then that is so
		return errors.New("the watch is over: " + printable.Line(why) + "; watch again once an agent runs")
	}
	return r.take(line)
}

// decodeLine reads what a line is about.
func decodeLine(line client.Line, into any) error {
	if err := json.Unmarshal(line.Object, into); err != nil {
		return fmt.Errorf("the agent sent something that this program does not understand (%s): %w", line.Type, err)
	}
	return nil
}

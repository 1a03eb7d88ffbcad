package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// stopPatience is how long an interrupted driver may take to remove what it made.
const stopPatience = 3 * time.Minute

// message is one line of a driver's output: all its figures so far.
type message struct {
	// Done is the share of the driver's work that is done, 1 at the end.
	Done    float64  `json:"done"`
	Figures []figure `json:"figures"`
}

// drive runs a driver, a program that measures by itself, checks its figures against the limits and
// reports each message. A driver that exits before everything is done is an error.
func (r *run) drive(ctx context.Context, report report, driver string, args ...string) error {
	cmd := exec.CommandContext(ctx, driver, args...)
	cmd.Dir = r.root
	// The driver removes what it made, which takes a while.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = stopPatience
	var errs bytes.Buffer
	cmd.Stderr = io.MultiWriter(&errs, r.progress)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	last, err := messages(out, report)
	if err != nil {
		_ = cmd.Cancel() // it may have exited already
	}
	_, _ = io.Copy(io.Discard, out) // so that the driver does not block on the pipe
	if ended := cmd.Wait(); ended != nil {
		return errors.Join(err, fmt.Errorf("%v: %w: %s", cmd.Args, ended, errs.Bytes()))
	}
	switch {
	case err != nil:
		return fmt.Errorf("%v: %w", cmd.Args, err)
	case len(last.Figures) == 0:
		return fmt.Errorf("%v: it has measured nothing", cmd.Args)
	case last.Done < 1:
		return fmt.Errorf("%v: it has ended after %.0f %% of its work", cmd.Args, last.Done*100)
	}
	return nil
}

// messages reports each message of a driver and returns the last one.
func messages(out io.Reader, report report) (last message, err error) {
	for stream := json.NewDecoder(out); ; {
		var m message
		if err := stream.Decode(&m); errors.Is(err, io.EOF) {
			return last, nil
		} else if err != nil {
			return last, err
		}
		for i := range m.Figures {
			f := &m.Figures[i]
			f.OK = true
			if f.Limit != nil {
				*f = f.limited(atMost, *f.Limit)
			}
		}
		last = m
		if err := report(m.Done, m.Figures); err != nil {
			return last, err
		}
	}
}

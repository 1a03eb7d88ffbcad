package logs

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Options say which part of a log is wanted.
type Options struct {
	// Follow goes on with what is written later, until the container has ended.
	Follow bool
	// Tail is how many lines from the end; less than 0 for all.
	Tail int64
	// Since leaves out what was written before; zero for nothing.
	Since time.Time
	// Timestamps puts the time before each line.
	Timestamps bool
	// Limit is how many bytes at most; less than 0 for all.
	Limit int64
}

// Output is where a container's streams go; nil for one that is not wanted.
type Output struct{ Stdout, Stderr io.Writer }

const (
	// blockSize is how much of a log is read at once, in bytes.
	blockSize = 32 << 10
	// A log that is followed is looked at again after firstPoll, then less and less often until lastPoll.
	firstPoll = 20 * time.Millisecond
	lastPoll  = 500 * time.Millisecond
	// settleTime is how long after the last write, or after a new file was found, a rotated file is read: the runtime may
	// still write what it had for it.
	settleTime = 500 * time.Millisecond
)

// Copy writes a log. With Follow it goes on until alive reports that the container has ended and all was read, or ctx
// ends, which is no error. A log that is rotated meanwhile is followed into the new file, and through all rotated
// files that came after the one that is read, as far as they are still there. Without Follow only the file is read
// that the container writes to, as by a kubelet.
func Copy(ctx context.Context, path string, o Options, out Output, alive func() bool) error {
	file, err := openLog(ctx, path)
	if err != nil {
		return fmt.Errorf("log of the container: %w", err)
	}
	c := &copier{options: o, out: out, left: o.Limit, file: file}
	defer func() { _ = c.file.Close() }() // it was read only
	if o.Tail >= 0 {
		if err := seekTail(file, o.Tail); err != nil {
			return fmt.Errorf("log of the container: %w", err)
		}
	}
	c.reader = bufio.NewReaderSize(file, blockSize)
	poll := firstPoll
	for {
		runs := o.Follow && alive()
		moved, err := c.copyRest()
		switch {
		case errors.Is(err, errEnough):
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil || !o.Follow:
			return nil
		}
		switch rotation, err := c.reopen(path); {
		case errors.Is(err, errEnough):
			return nil
		case err != nil:
			return err
		case rotation == rotationOver:
			continue
		case rotation == rotationPending:
			moved = true
		case !runs:
			return nil
		}
		if poll = min(2*poll, lastPoll); moved {
			poll = firstPoll
		}
		if !sleep(ctx, poll) {
			return nil
		}
	}
}

// sleep reports whether ctx goes on after d.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// errEnough says that all was written that is wanted.
var errEnough = errors.New("enough")

// copier is one copy of a log.
type copier struct {
	options Options
	out     Output
	file    *os.File
	reader  *bufio.Reader
	// head is the beginning of the file, where that is compressed; nil for one that is not.
	head []byte
	// rotatedAt is when it was found that the file is rotated, zero for one that is not.
	rotatedAt time.Time
	// left is how many bytes may still be written, less than 0 for any number.
	left int64
	// within is true in the middle of a line of the file, whose end was not there yet; to is where it goes, and whole
	// whether its end is the end of a line of the container.
	within bool
	to     io.Writer
	whole  bool
	// midLine is true after a part of a line of the container: the next part gets no time.
	midLine bool
	// header is the beginning of a line of which not enough was there.
	header []byte
}

// copyRest copies what there is.
func (c *copier) copyRest() (moved bool, err error) {
	for {
		piece, err := c.reader.ReadSlice('\n')
		if len(piece) > 0 {
			moved = true
			if err := c.take(piece); err != nil {
				return true, err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return moved, nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return moved, fmt.Errorf("log of the container: %w", err)
		}
	}
}

// take takes a piece of a line of the file.
func (c *copier) take(piece []byte) error {
	ends := piece[len(piece)-1] == '\n'
	if !c.within {
		c.header = append(c.header, piece...)
		line, ok := parse(bytes.TrimSuffix(c.header, []byte("\n")))
		if !ok && !ends && len(c.header) < maxHeader {
			return nil // the rest of it is not written yet
		}
		piece, c.header = c.header, nil
		c.to = nil
		if ok && !line.at.Before(c.options.Since) {
			c.to, c.whole = c.writer(line.stream), line.whole
		}
		if c.to != nil && c.options.Timestamps && !c.midLine {
			if err := c.write([]byte(line.at.Format(shownFormat) + " ")); err != nil {
				return err
			}
		}
		if ok {
			piece = piece[line.header:]
		}
		c.within = true
	}
	if ends {
		c.within = false
		c.midLine = c.to != nil && !c.whole
		if !c.whole {
			piece = bytes.TrimSuffix(piece, []byte("\n"))
		}
	}
	if c.to == nil {
		return nil
	}
	return c.write(piece)
}

func (c *copier) writer(stream string) io.Writer {
	switch stream {
	case "stdout":
		return c.out.Stdout
	case "stderr":
		return c.out.Stderr
	}
	return nil
}

func (c *copier) write(text []byte) error {
	if c.left >= 0 && int64(len(text)) > c.left {
		text = text[:c.left]
	}
	n, err := c.to.Write(text)
	if c.left >= 0 {
		c.left -= int64(n)
	}
	switch {
	case err != nil:
		return err
	case c.left == 0:
		return errEnough
	}
	return nil
}

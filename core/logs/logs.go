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

// Options select a part of a log.
type Options struct {
	// Follow continues with later output until the container has ended.
	Follow bool
	// Tail is the number of lines from the end; less than 0 for all.
	Tail int64
	// Since leaves out earlier output; zero for none.
	Since time.Time
	// Timestamps adds the time before each line.
	Timestamps bool
	// Limit is the maximum number of bytes; less than 0 for all.
	Limit int64
}

// Output has the writers for a container's streams; nil for an unwanted stream.
type Output struct{ Stdout, Stderr io.Writer }

const (
	// blockSize is the number of bytes that are read from a log at once.
	blockSize = 32 << 10
	// A followed log is checked again after firstPoll, then less and less often until lastPoll.
	firstPoll = 20 * time.Millisecond
	lastPoll  = 500 * time.Millisecond
	// settleTime is the delay before the rest of a rotated file is read, counted from its last write
	// or from the discovery of a new file: the runtime may still write buffered output.
	settleTime = 500 * time.Millisecond
)

// Copy writes a log. With Follow, it continues until alive reports that the container has ended and
// the log is read completely, or ctx ends, which is no error. If the log is rotated in between,
// Copy continues with the rotated files that came after the current one, as far as they still
// exist, and then with the new file. Without Follow, it reads only the file that the container
// writes to, as a kubelet does.
func Copy(ctx context.Context, path string, o Options, out Output, alive func() bool) error {
	file, err := openLog(ctx, path)
	if err != nil {
		return fmt.Errorf("log of the container: %w", err)
	}
	c := &copier{options: o, out: out, left: o.Limit, file: file}
	defer func() { _ = c.file.Close() }() // it was only read
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

// sleep waits for d. It returns false if ctx ended.
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

// errEnough means that everything requested was written.
var errEnough = errors.New("enough")

// copier is one copy of a log.
type copier struct {
	options Options
	out     Output
	file    *os.File
	reader  *bufio.Reader
	// head is the beginning of a compressed file; nil for any other file.
	head []byte
	// rotatedAt is the time at which the rotation of the file was detected, zero if it is not rotated.
	rotatedAt time.Time
	// left is the number of bytes that may still be written, less than 0 for no limit.
	left int64
	// within is true while a line of the file was read only in part. to is the writer for its rest,
	// and whole is true if it ends a line of the container.
	within bool
	to     io.Writer
	whole  bool
	// midLine is true after a part of a line of the container: the next part gets no timestamp.
	midLine bool
	// header is an incomplete header.
	header []byte
}

// copyRest copies to the current end of the file.
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

// take processes a piece of a line of the file.
func (c *copier) take(piece []byte) error {
	ends := piece[len(piece)-1] == '\n'
	if !c.within {
		c.header = append(c.header, piece...)
		line, ok := parse(bytes.TrimSuffix(c.header, []byte("\n")))
		if !ok && !ends && len(c.header) < maxHeader {
			return nil // the rest of the header is not written yet
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

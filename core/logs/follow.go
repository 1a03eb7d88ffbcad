package logs

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"
)

// headSize is the number of bytes at the beginning of a file that identify it: a line with its
// time.
const headSize = 64

// openLog opens a log. During a rotation, the file does not exist for a moment.
func openLog(ctx context.Context, path string) (*os.File, error) {
	began := time.Now()
	for {
		file, err := os.Open(path)
		if !errors.Is(err, fs.ErrNotExist) || time.Since(began) >= settleTime {
			return file, err
		}
		if rotated, listErr := ListRotated(path); listErr != nil || len(rotated) == 0 || !sleep(ctx, firstPoll) {
			return nil, err
		}
	}
}

// rotation is the state of a copier in the rotation of its file.
type rotation int

const (
	// rotationNone: the container still writes to the file.
	rotationNone rotation = iota
	// rotationPending: the file is rotated, and the runtime may still write to it for a moment.
	rotationPending
	// rotationOver: the copier has switched to the next file.
	rotationOver
)

// reopen switches to the next file if the copier's own file is rotated and was read to its end.
func (c *copier) reopen(path string) (rotation, error) {
	current, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return rotationNone, nil // a rotation is in progress, or the container is gone
	}
	if err != nil {
		return rotationNone, fmt.Errorf("log of the container: %w", err)
	}
	own, err := c.file.Stat()
	if err != nil || os.SameFile(own, current) {
		return rotationNone, err
	}
	if c.rotatedAt.IsZero() {
		c.rotatedAt = time.Now()
	}
	if c.head == nil && time.Since(c.rotatedAt) < settleTime && time.Since(own.ModTime()) < settleTime {
		return rotationPending, nil
	}
	if _, err := c.copyRest(); err != nil {
		return rotationNone, err
	}
	// Open the log before listing: if it is rotated in between, the list has it.
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return rotationPending, nil
	}
	if err != nil {
		return rotationNone, fmt.Errorf("log of the container: %w", err)
	}
	next, err := c.next(path, own)
	if err == nil && next != nil {
		file.Close()
		file, err = os.Open(next.Path)
		if errors.Is(err, fs.ErrNotExist) {
			return rotationPending, nil // it was just compressed, or removed as the oldest
		}
	}
	if err == nil {
		err = c.use(file, next != nil && next.Compressed)
	}
	if err != nil {
		file.Close()
		return rotationNone, fmt.Errorf("log of the container: %w", err)
	}
	return rotationOver, nil
}

// use continues the copy with a file.
func (c *copier) use(file *os.File, compressed bool) error {
	var reader io.Reader = file
	var head []byte
	if compressed {
		var err error
		if reader, err = gzip.NewReader(file); err != nil {
			return fmt.Errorf("%s: %w", file.Name(), err)
		}
	}
	c.reader.Reset(reader)
	if compressed {
		peeked, err := c.reader.Peek(headSize)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: %w", file.Name(), err)
		}
		head = slices.Clone(peeked)
	}
	c.file.Close()
	c.file, c.head, c.rotatedAt, c.within, c.header = file, head, time.Time{}, false, nil
	return nil
}

// next returns the rotated file that follows the copier's own, nil if the log itself follows.
func (c *copier) next(path string, own fs.FileInfo) (*Rotated, error) {
	files, err := ListRotated(path)
	if err != nil {
		return nil, err
	}
	head := c.head
	if head == nil {
		head = make([]byte, headSize)
		n, err := c.file.ReadAt(head, 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		head = head[:n]
	}
	last := -1
	for i := range files {
		if isOwn(&files[i], own, head) {
			last = i
		}
	}
	for i := last + 1; i < len(files); i++ {
		// If the own file no longer exists, the next one is the first that was rotated after the own
		// file's last line. Times in names have whole seconds.
		if last >= 0 || files[i].At.After(own.ModTime().Add(-time.Second)) {
			return &files[i], nil
		}
	}
	return nil, nil
}

// isOwn reports whether a rotated file is the open file, or its compressed copy. head is the
// beginning of the open file.
func isOwn(f *Rotated, own fs.FileInfo, head []byte) bool {
	info, err := os.Stat(f.Path)
	if err != nil {
		return false
	}
	if os.SameFile(info, own) {
		return true
	}
	if !f.Compressed || len(head) == 0 {
		return false
	}
	file, err := os.Open(f.Path)
	if err != nil {
		return false
	}
	defer file.Close()
	reader, err := gzip.NewReader(file)
	if err != nil {
		return false
	}
	begins := make([]byte, len(head))
	_, err = io.ReadFull(reader, begins)
	return err == nil && bytes.Equal(begins, head)
}

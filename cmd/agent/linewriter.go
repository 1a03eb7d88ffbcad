package main

import (
	"bytes"
	"io"
	"sync"
)

// maxHeldLine is the maximum number of bytes to buffer until the line ends. A longer line is
// written in pieces.
const maxHeldLine = 1 << 20

// lineWriter writes whole lines, each with a prefix. Several writers share a lock, so that their
// lines do not mix.
type lineWriter struct {
	to     io.Writer
	mu     *sync.Mutex
	prefix string

	rest []byte // the beginning of a line
	cut  bool   // its beginning has been written
}

// Write implements io.Writer.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for {
		end := bytes.IndexByte(w.rest, '\n') + 1
		if end == 0 && len(w.rest) < maxHeldLine {
			return len(p), nil
		}
		line := w.rest[:end]
		if end == 0 {
			line = w.rest
		}
		if err := w.write(line); err != nil {
			return 0, err
		}
		w.rest, w.cut = w.rest[len(line):], end == 0
	}
}

func (w *lineWriter) write(line []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.prefix != "" && !w.cut {
		line = append([]byte(w.prefix), line...)
	}
	_, err := w.to.Write(line)
	return err
}

// flush writes a last line that has no newline.
func (w *lineWriter) flush() {
	if len(w.rest) > 0 {
		_ = w.write(w.rest) // a failed write cannot be reported
	}
	w.rest = nil
}

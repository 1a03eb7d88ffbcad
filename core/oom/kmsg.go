package oom

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// maxLine is the maximum length of a line, in bytes. The kernel's records are shorter.
const maxLine = 16 << 10

// kmsg is the log of the kernel, from now on.
type kmsg struct {
	file *os.File
	// text is what was read and not yet returned, a part of buffer.
	text, buffer []byte
}

// open opens the log of the kernel behind its last record.
func open(path string) (*kmsg, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekEnd); err != nil && !errors.Is(err, unix.ESPIPE) {
		f.Close()
		return nil, fmt.Errorf("skipping what was logged before: %w", err)
	}
	return &kmsg{file: f, buffer: make([]byte, maxLine)}, nil
}

// Close ends a call of next.
func (k *kmsg) Close() error { return k.file.Close() }

// next returns the next line without its end. It skips lines that are too long.
func (k *kmsg) next() (string, error) {
	for {
		if end := bytes.IndexByte(k.text, '\n'); end >= 0 {
			line := string(k.text[:end])
			k.text = k.text[end+1:]
			return line, nil
		}
		rest := copy(k.buffer, k.text)
		if rest == len(k.buffer) {
			rest = 0
		}
		n, err := k.file.Read(k.buffer[rest:])
		k.text = k.buffer[:rest+n]
		switch {
		case errors.Is(err, unix.EPIPE):
			// The next records were overwritten before they could be read. The read after this one
			// continues behind them.
			k.text = nil
		case errors.Is(err, io.EOF):
			return "", io.ErrUnexpectedEOF
		case err != nil:
			return "", err
		}
	}
}

// record is a record of the kernel's log.
type record struct {
	// at is the time since the boot.
	at time.Duration
	// continues is true if the message continues that of the record before.
	continues bool
	message   string
}

// parseRecord parses "PRIORITY,SEQUENCE,MICROSECONDS,FLAGS[,...];MESSAGE". ok is false for other
// lines, such as those with the properties of a device, and for what programs have written into the
// log.
func parseRecord(line string) (r record, ok bool) {
	head, message, found := strings.Cut(line, ";")
	fields := strings.Split(head, ",")
	if !found || len(fields) < 4 || len(line) > maxLine {
		return record{}, false
	}
	priority, err := strconv.ParseUint(fields[0], 10, 32)
	if err != nil || priority>>3 != 0 { // the facility is not the kernel
		return record{}, false
	}
	micros, err := strconv.ParseUint(fields[2], 10, 64)
	if err != nil || micros > math.MaxInt64/2/uint64(time.Microsecond) {
		return record{}, false
	}
	for i := range len(message) {
		if message[i] < ' ' || message[i] > '~' { // the kernel escapes them
			return record{}, false
		}
	}
	return record{at: time.Duration(micros) * time.Microsecond, continues: fields[3] == "c" || fields[3] == "+", message: message}, true
}

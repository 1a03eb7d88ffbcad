package runtime

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

const (
	// logBlock is how much of a log is read at once.
	logBlock = 64 << 10
	// maxLogScan bounds how far lastLogLines reads back from the end of a log.
	// Beyond it stands the beginning of a line of which only the end counts.
	maxLogScan = 16 << 20
	// maxLogHead is more than the time, the stream and the tags before the text
	// of a log line take, in bytes.
	maxLogHead = 256
)

// lastLogLines returns the text of the last lines of a container's log, at most
// size bytes of it, from the end. Lines may be of any length: a runtime may be
// told not to cut them.
func lastLogLines(path string, lines, size int) ([]byte, error) {
	f, info, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	end := info.Size()
	floor := max(end-maxLogScan, 0)
	last, err := readAt(f, max(end-1, 0), end)
	if err != nil {
		return nil, err
	}
	if len(last) == 0 || last[0] == '\n' {
		end-- // no line begins behind the last newline, and none in an empty file
	}
	var text []byte
	for ; lines > 0 && end >= 0 && len(text) < size; lines-- {
		start, err := lineStart(f, end, floor)
		if err != nil {
			return nil, err
		}
		var line []byte
		if start < 0 {
			line, err = readAt(f, max(end-int64(size), 0), end)
			line = append(line, '\n')
		} else {
			line, err = shortened(f, start, end, int64(size))
			line = logText(line)
		}
		if err != nil {
			return nil, err
		}
		text = append(line, text...)
		end = start - 1
	}
	return text[max(len(text)-size, 0):], nil
}

// lineStart returns where the line begins that ends at end, and -1 where it
// begins before floor. A log begins a line at 0.
func lineStart(f io.ReaderAt, end, floor int64) (int64, error) {
	for end > floor {
		begin := max(end-logBlock, floor)
		block, err := readAt(f, begin, end)
		if err != nil {
			return 0, err
		}
		if at := bytes.LastIndexByte(block, '\n'); at >= 0 {
			return begin + int64(at) + 1, nil
		}
		end = begin
	}
	if floor > 0 {
		return -1, nil
	}
	return 0, nil
}

// shortened returns a line of a log without its newline: all of it, or what stands
// before its text and the last size bytes.
func shortened(f io.ReaderAt, start, end, size int64) ([]byte, error) {
	if end-start <= maxLogHead+size {
		return readAt(f, start, end)
	}
	head, err := readAt(f, start, start+maxLogHead)
	if err != nil {
		return nil, err
	}
	tail, err := readAt(f, end-size, end)
	return append(head, tail...), err
}

// readAt reads a part of a file, less where the file was truncated meanwhile.
func readAt(f io.ReaderAt, begin, end int64) ([]byte, error) {
	part := make([]byte, end-begin)
	n, err := f.ReadAt(part, begin)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return part[:n], err
}

// logText is what the container wrote of a log line: the line's fourth field,
// with a newline unless the line is only a part. What is not in the CRI's
// format gives nothing.
func logText(line []byte) []byte {
	fields := bytes.SplitN(bytes.TrimSuffix(line, []byte("\n")), []byte(" "), 4)
	if len(fields) < 4 {
		return nil
	}
	tag, _, _ := strings.Cut(string(fields[2]), runtimeapi.LogTagDelimiter)
	if tag == string(runtimeapi.LogTagPartial) {
		return fields[3]
	}
	return append(fields[3], '\n')
}

package runtime

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/runtime/criconfig"
)

// The limits of a termination message in bytes, and of a log that replaces it in bytes and lines.
const (
	maxMessageFile  = 4096
	maxMessageLog   = 2048
	maxMessageLines = 80
)

// messageFile returns the path on the host of a container's termination message file: eight hex
// digits, one file per attempt.
func (r *Runtime) messageFile(run *pod.ContainerRun) string {
	return filepath.Join(r.config.Layout.ContainerDir(run.Pod.UID, run.Container.Name), fmt.Sprintf("%08x", run.Attempt))
}

// writeMessageFile makes the file empty and writable for any user as which the container may run.
func (r *Runtime) writeMessageFile(run *pod.ContainerRun) error {
	if run.Container.TerminationMessagePath == "" {
		return nil
	}
	file := r.messageFile(run)
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return fmt.Errorf("termination message file: %w", err)
	}
	if err := os.WriteFile(file, nil, 0o666); err != nil { // any user of the container writes it
		return fmt.Errorf("termination message file: %w", err)
	}
	if err := os.Chmod(file, 0o666); err != nil { // the umask removed bits
		return fmt.Errorf("termination message file: %w", err)
	}
	return nil
}

// removeMessageFile removes the termination message file of a container. It reads the path from the
// container's mounts.
func (r *Runtime) removeMessageFile(uid types.UID, c *runtimeapi.ContainerStatus) error {
	file := mountedMessageFile(c)
	if filepath.Dir(file) != r.config.Layout.ContainerDir(uid, c.GetMetadata().GetName()) {
		return nil // a volume of the pod is mounted there
	}
	if err := removeFile(file); err != nil {
		return fmt.Errorf("termination message file: %w", err)
	}
	return nil
}

// mountedMessageFile returns the path on the host of the container's termination message file, ""
// if there is none.
func mountedMessageFile(c *runtimeapi.ContainerStatus) string {
	path := c.GetAnnotations()[criconfig.AnnotationMessagePath]
	for _, m := range c.GetMounts() {
		if path != "" && m.GetContainerPath() == path {
			return m.GetHostPath()
		}
	}
	return ""
}

// terminationMessage returns the termination message of an exited container: the end of its message
// file. If that is empty, the container failed and its policy is FallbackToLogsOnError, it returns
// the end of the container's log.
func terminationMessage(c *runtimeapi.ContainerStatus) string {
	var message []byte
	if file := mountedMessageFile(c); file != "" {
		var err error
		message, err = readTail(file, maxMessageFile)
		if errors.Is(err, errNotRegular) {
			err = fmt.Errorf("%w; mount a file there, or set another terminationMessagePath", err)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Sprintf("termination message cannot be read: %v", err)
		}
	}
	fallBack := c.GetAnnotations()[criconfig.AnnotationMessagePolicy] == string(v1.TerminationMessageFallbackToLogsOnError)
	if len(message) > 0 || !fallBack || c.GetExitCode() == 0 {
		return string(message)
	}
	message, err := lastLogLines(c.GetLogPath(), maxMessageLines, maxMessageLog)
	if err != nil {
		return fmt.Sprintf("termination message cannot be read from the log: %v", err)
	}
	return string(message)
}

const (
	// logBlock is how much of a log is read at once.
	logBlock = 64 << 10
	// maxLogScan is how far lastLogLines reads back from the end of a log. If a line begins
	// earlier, only its end is used.
	maxLogScan = 16 << 20
	// maxLogHead is more than the length of the time, the stream and the tags before the text of a
	// log line, in bytes.
	maxLogHead = 256
)

// lastLogLines returns the text of the last lines of a container's log, at most its last size
// bytes. Lines may have any length, because a runtime may be configured not to split them.
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
		end-- // no line begins after the last newline, and none in an empty file
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
			line, err = truncatedLine(f, start, end, int64(size))
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

// lineStart returns the start of the line that ends at end, or -1 if it is before floor. The first
// line of a log starts at 0.
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

// truncatedLine returns a line of a log without its newline. If the line is too long, it returns
// only the part before the text and the last size bytes.
func truncatedLine(f io.ReaderAt, start, end, size int64) ([]byte, error) {
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

// readAt reads a part of a file. It returns less if the file was truncated since.
func readAt(f io.ReaderAt, begin, end int64) ([]byte, error) {
	part := make([]byte, end-begin)
	n, err := f.ReadAt(part, begin)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return part[:n], err
}

// logText returns the text that the container wrote in a log line: the line's fourth field, with a
// newline unless the line is partial. It returns nil for a line that is not in the CRI's format.
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

package runtime

import (
	"bytes"
	"strings"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// logWindow is how much of the end of a log is read for its last lines. With
// the runtime's lines of at most 16 KiB it holds either enough lines or
// enough bytes of them.
const logWindow = 64 << 10

// lastLogLines is the text of the last lines of a container's log, at most
// bytes of it, from the end.
func lastLogLines(path string, lines, size int) ([]byte, error) {
	tail, whole, err := readTail(path, logWindow)
	if err != nil {
		return nil, err
	}
	if !whole {
		_, tail, _ = bytes.Cut(tail, []byte("\n"))
	}
	all := bytes.SplitAfter(bytes.TrimSuffix(tail, []byte("\n")), []byte("\n"))
	var text []byte
	for _, line := range all[max(len(all)-lines, 0):] {
		text = append(text, logText(line)...)
	}
	return text[max(len(text)-size, 0):], nil
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

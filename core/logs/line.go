package logs

import (
	"bytes"
	"time"
)

const (
	// timeFormat is that of the times in a log.
	timeFormat = time.RFC3339Nano
	// maxHeader is the length of the longest beginning of a line, in bytes.
	maxHeader = 128
)

// line is the beginning of a line of a log.
type line struct {
	at     time.Time
	stream string
	// whole is true for the end of a line that the container wrote, false for a part before that.
	whole bool
	// header is how many bytes come before what the container wrote.
	header int
}

// parse reads the beginning of a line: time, stream and tags, each with a space behind it. ok is false where that is
// not all there, or is something else.
func parse(text []byte) (l line, ok bool) {
	stamp, rest, ok := bytes.Cut(text, []byte(" "))
	if !ok {
		return line{}, false
	}
	stream, rest, ok := bytes.Cut(rest, []byte(" "))
	if !ok {
		return line{}, false
	}
	tags, rest, ok := bytes.Cut(rest, []byte(" "))
	if !ok {
		return line{}, false
	}
	at, err := time.Parse(timeFormat, string(stamp))
	if err != nil {
		return line{}, false
	}
	tag, _, _ := bytes.Cut(tags, []byte(":"))
	return line{at: at, stream: string(stream), whole: string(tag) != "P", header: len(text) - len(rest)}, true
}

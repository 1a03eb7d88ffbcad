package logs

import (
	"bytes"
	"time"
)

const (
	// timeFormat is that of the times in a log, shownFormat the one in which they are shown: of one width, so that lines
	// sort by their text, as a kubelet shows them.
	timeFormat  = time.RFC3339Nano
	shownFormat = "2006-01-02T15:04:05.000000000Z07:00"
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

package logs

import (
	"bytes"
	"time"
)

const (
	// timeFormat is the format of times in a log. shownFormat is the format in the output: it has a
	// fixed width, so that lines sort by their text, as in a kubelet's output.
	timeFormat  = time.RFC3339Nano
	shownFormat = "2006-01-02T15:04:05.000000000Z07:00"
	// maxHeader is the maximum length of a line's header, in bytes.
	maxHeader = 128
)

// line is the header of a line of a log.
type line struct {
	at     time.Time
	stream string
	// whole is true for the last part of a line of the container, false for an earlier part.
	whole bool
	// header is the length of the header, in bytes.
	header int
}

// parse parses the header of a line: time, stream and tags, each followed by a space. ok is false
// if the header is incomplete or invalid.
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

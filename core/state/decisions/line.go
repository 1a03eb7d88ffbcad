package decisions

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
)

// The kinds of lines in a segment of the log of decisions.
const (
	// lineInput is a document that decisions saw: its digest and its JSON.
	lineInput = 'i'
	// lineFile is the digest of a policy file that records of the segment name.
	lineFile = 'f'
	// lineRecord is a record, lineCount the number of its repetitions, both as JSON.
	lineRecord = 'r'
	lineCount  = 'c'
	// lineGap is a number: all numbers up to it that have no record were used up by failed writes.
	lineGap = 'g'
	// lineManifest is the manifest of a bundle, as JSON. It is the only line of its file.
	lineManifest = 'm'
)

// digestLength is the length of a SHA-256 in hexadecimal digits.
const digestLength = 64

// line is a line of a segment: "CHECKSUM KIND [DIGEST] [JSON]". The checksum covers the rest of the
// line, so that a line that a crash has cut off is invalid.
type line struct {
	kind   byte
	digest string
	body   []byte
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksumLength is the length of a line's checksum in hexadecimal digits.
const checksumLength = 8

// append adds the line to text.
func (l *line) append(text []byte) []byte {
	begin := len(text)
	text = append(text, "00000000 "...)
	text = append(text, l.kind)
	if l.digest != "" {
		text = append(append(text, ' '), l.digest...)
	}
	if l.body != nil {
		text = append(append(text, ' '), l.body...)
	}
	sum := crc32.Checksum(text[begin+checksumLength+1:], castagnoli)
	copy(text[begin:], fmt.Sprintf("%08x", sum))
	return append(text, '\n')
}

// tornMark is appended to a line that a crash has cut off, so that the line is invalid. No valid
// line ends with it.
const tornMark = "torn"

// errTorn is the error for a line that was being written during a crash, so that its write was
// never reported as successful.
var errTorn = errors.New("a line is incomplete after a crash")

// cutLine reads the first line of text. The error says why the line is invalid. rest is the text
// after the line in any case.
func cutLine(text []byte) (l line, rest []byte, err error) {
	whole, rest, ended := bytes.Cut(text, []byte{'\n'})
	if !ended {
		return line{}, nil, errors.New("the last line has no end")
	}
	if bytes.HasSuffix(whole, []byte(tornMark)) {
		return line{}, rest, errTorn
	}
	if len(whole) < checksumLength+2 || whole[checksumLength] != ' ' {
		return line{}, rest, errors.New("a line is too short")
	}
	sum, err := strconv.ParseUint(string(whole[:checksumLength]), 16, 32)
	content := whole[checksumLength+1:]
	if err != nil || uint32(sum) != crc32.Checksum(content, castagnoli) || bytes.ContainsAny(whole[:checksumLength], "ABCDEF") {
		return line{}, rest, errors.New("the checksum of a line is not that of its content")
	}
	l.kind, content = content[0], content[1:]
	switch l.kind {
	case lineInput, lineFile:
		if len(content) < 1+digestLength || content[0] != ' ' {
			return line{}, rest, errors.New("a line has no digest")
		}
		l.digest, content = string(content[1:1+digestLength]), content[1+digestLength:]
	case lineRecord, lineCount, lineGap, lineManifest:
	default:
		return line{}, rest, fmt.Errorf("a line is of the unknown kind %q", l.kind)
	}
	if len(content) > 0 {
		if content[0] != ' ' {
			return line{}, rest, errors.New("a line has no space before its content")
		}
		l.body = content[1:]
	}
	return l, rest, nil
}

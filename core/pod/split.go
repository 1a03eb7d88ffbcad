package pod

import (
	"bytes"
	"unicode/utf8"
)

// chunk is the text of one document of a YAML stream.
type chunk struct {
	// index counts the documents of the stream from 0.
	index int
	// above counts the lines of the file before the text.
	above int
	text  []byte
}

// split cuts a stream at its "---" lines and leaves out documents that say
// nothing, unless no parser could read them. YAML forbids such a line inside
// any scalar, so the cut needs no parser and one broken document does not
// spoil the next. The line itself stays with the document it begins. It stops
// at one document more than a manifest may have.
func split(data []byte) []chunk {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	var chunks []chunk
	index, above := 0, 0
	for len(data) > 0 && len(chunks) <= maxDocuments {
		text := data[:firstDocument(data)]
		data = data[len(text):]
		c := chunk{index, above, text}
		full := says(text) || legible(c) != nil && len(bytes.TrimSpace(text)) > 0
		if full {
			chunks = append(chunks, c)
		}
		if full || begins(text) {
			index++
		}
		above += bytes.Count(text, []byte{'\n'})
	}
	return chunks
}

// firstDocument is the length of the text before the second document, with
// the marker and the directives that begin the first.
func firstDocument(data []byte) int {
	at := 0
	for line := range bytes.Lines(data) {
		if at > 0 && begins(line) && !onlyDirects(data[:at]) {
			return at
		}
		at += len(line)
	}
	return len(data)
}

// begins reports whether the text starts with a document marker.
func begins(text []byte) bool {
	rest, ok := bytes.CutPrefix(text, []byte("---"))
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}

// onlyDirects reports whether the text has a directive (%YAML 1.1) and else
// nothing but comments: it belongs to the document whose marker follows.
func onlyDirects(text []byte) bool {
	directs := false
	for line := range bytes.Lines(text) {
		if line[0] == '%' {
			directs = true
		} else if says(line) || begins(line) {
			return false
		}
	}
	return directs
}

// says reports whether there is more in the text than markers and comments.
func says(text []byte) bool {
	for len(text) > 0 {
		line := text
		if end := bytes.IndexFunc(text, endsLine); end >= 0 {
			line, text = text[:end], text[end:]
			_, size := utf8.DecodeRune(text)
			text = text[size:]
		} else {
			text = nil
		}
		if begins(line) {
			line = line[len("---"):]
		}
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' && string(line) != "..." {
			return true
		}
	}
	return false
}

// endsLine reports whether YAML 1.1 ends a line, and so a comment, with r.
func endsLine(r rune) bool {
	return r == '\n' || r == '\r' || r == '\u0085' || r == '\u2028' || r == '\u2029'
}

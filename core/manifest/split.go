package manifest

import (
	"bytes"
	"unicode/utf8"

	"github.com/wardlet/wardlet/core/internal/charset"
)

// chunk is the text of one document of a YAML stream.
type chunk struct {
	// index counts the documents of the stream from 0.
	index int
	// above counts the lines of the file before the text.
	above int
	text  []byte
}

// split cuts a stream at its "---" lines. It leaves out documents without content, unless no parser
// could read them. YAML forbids such a line inside any scalar, so the cut needs no parser and one
// broken document does not affect the next. The line itself belongs to the document that it begins.
// split stops at one document more than a manifest may have.
func split(data []byte) []chunk {
	data = withoutMarks(data)
	var chunks []chunk
	index, above := 0, 0
	for len(data) > 0 && len(chunks) <= maxDocuments {
		text := data[:firstDocument(data)]
		data = data[len(text):]
		c := chunk{index, above, text}
		said := content(text)
		full := says(said) || legible(c) != nil && len(bytes.TrimSpace(text)) > 0
		if full {
			chunks = append(chunks, c)
		}
		if full || begins(said) {
			index++
		}
		above += bytes.Count(text, []byte{'\n'})
	}
	return chunks
}

// withoutMarks removes the byte order marks before documents: at the beginning of the stream,
// before a "---", and before the first content of a document. Each file that was copied into the
// stream may have brought one. The result has the same lines.
func withoutMarks(data []byte) []byte {
	mark := []byte(charset.ByteOrderMark)
	for bytes.HasPrefix(data, mark) {
		data = data[len(mark):]
	}
	if !bytes.Contains(data, mark) {
		return data
	}
	out := make([]byte, 0, len(data))
	fresh := true // the document has had no content yet
	for line := range bytes.Lines(data) {
		bare := line
		for bytes.HasPrefix(bare, mark) {
			bare = bare[len(mark):]
		}
		switch {
		case begins(bare):
			line, fresh = bare, !says(bare)
		case ends(bare):
			line, fresh = bare, true
		case fresh:
			line = bare
			fresh = !says(bare) || bare[0] == '%'
		}
		out = append(out, line...)
	}
	return out
}

// firstDocument returns the length of the text before the second document, including the marker and
// the directives of the first document.
func firstDocument(data []byte) int {
	at, ended := 0, 0
	for line := range bytes.Lines(data) {
		if at > 0 && begins(line) && !onlyDirects(data[:at]) {
			if onlyDirects(data[ended:at]) {
				return ended
			}
			return at
		}
		at += len(line)
		if ends(line) {
			ended = at
		}
	}
	return len(data)
}

// begins reports whether the text starts with a document marker.
func begins(text []byte) bool {
	rest, ok := bytes.CutPrefix(text, []byte("---"))
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}

// ends reports whether the line is the marker "..." that ends a document. Directives
// may follow it.
func ends(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("..."))
	return ok && !says(rest)
}

// content returns a document without its directives, which are no content.
func content(text []byte) []byte {
	at := 0
	for line := range bytes.Lines(text) {
		if begins(line) && onlyDirects(text[:at]) {
			return text[at:]
		}
		at += len(line)
	}
	return text
}

// onlyDirects reports whether the text has a directive (%YAML 1.1) and otherwise only comments.
// Such a text belongs to the document whose marker follows.
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

// says reports whether the text has content besides markers and comments.
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

// endsLine reports whether r ends a line in YAML 1.1, and so a comment.
func endsLine(r rune) bool {
	return r == '\n' || r == '\r' || r == '\u0085' || r == '\u2028' || r == '\u2029'
}

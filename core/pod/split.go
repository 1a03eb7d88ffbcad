package pod

import "bytes"

// chunk is the text of one document of a YAML stream.
type chunk struct {
	// index counts the documents of the stream from 0.
	index int
	// above counts the lines of the file before the text.
	above int
	text  []byte
}

// split cuts a stream at its "---" lines and leaves out documents that say
// nothing. YAML forbids such a line inside any scalar, so the cut needs no
// parser and one broken document does not spoil the next. The line itself
// stays with the document it begins.
func split(data []byte) []chunk {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	var texts [][]byte
	start, at := 0, 0
	for line := range bytes.Lines(data) {
		if at > start && begins(line) {
			texts = append(texts, data[start:at])
			start = at
		}
		at += len(line)
	}
	texts = append(texts, data[start:])

	var chunks []chunk
	index, above := 0, 0
	for _, text := range texts {
		full := says(text)
		if full {
			chunks = append(chunks, chunk{index, above, text})
		}
		if full || begins(text) {
			index++
		}
		above += bytes.Count(text, []byte{'\n'})
	}
	return chunks
}

// begins reports whether the text starts with a document marker.
func begins(text []byte) bool {
	rest, ok := bytes.CutPrefix(text, []byte("---"))
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}

// says reports whether there is more in the text than markers and comments.
func says(text []byte) bool {
	for line := range bytes.Lines(text) {
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

package manifest

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// documents splits a YAML stream at its markers. Comments and directives before the first marker
// belong to the document after it. After a marker, an empty document counts as a document, unless
// it is the last.
func documents(text []byte) [][]byte {
	var parts [][]byte
	var part []byte
	marked := false
	for line := range bytes.Lines(text) {
		if marks(string(line)) {
			if marked || says(part) && !directs(part) {
				parts = append(parts, part)
				part = nil
			}
			marked = true
		}
		part = append(part, line...)
	}
	if says(part) || len(parts) == 0 {
		parts = append(parts, part)
	}
	return parts
}

// marks reports whether a line begins a document.
func marks(line string) bool {
	return strings.HasPrefix(line, "---") && (len(line) == 3 || strings.ContainsRune(" \t\r\n", rune(line[3])))
}

// directs reports whether part has directives and otherwise only comments.
func directs(part []byte) bool {
	found := false
	for line := range bytes.Lines(part) {
		switch {
		case line[0] == '%':
			found = true
		case speaks(line):
			return false
		}
	}
	return found
}

// lineEnds replaces the line ends of YAML 1.1 by newlines.
var lineEnds = strings.NewReplacer("\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// says reports whether part has more than comments and markers, or characters that no parser
// accepts.
func says(part []byte) bool {
	return speaks(part) || !utf8.Valid(part) || bytes.ContainsFunc(part, illegible)
}

func speaks(part []byte) bool {
	for line := range strings.Lines(lineEnds.Replace(string(part))) {
		text := line
		if marks(line) {
			text = line[3:]
		}
		text = strings.TrimSpace(text)
		if text != "" && text[0] != '#' && line[0] != '%' && text != "..." {
			return true
		}
	}
	return false
}

func illegible(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\r\n", r) || r == 0x7f }

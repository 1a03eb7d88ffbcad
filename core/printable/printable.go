package printable

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns s as part of one line. Control characters, line ends, tabs, characters that change
// the direction of writing, characters without a shape and bytes that are not UTF-8 become Go's
// escapes, such as \x1b, \n and \u202e. Everything else is kept, also backslashes, so that
// Line(Line(s)) is Line(s).
func Line(s string) string { return escape(s, "") }

// Lines is Line for text that may contain line ends and tabs.
func Lines(s string) string { return escape(s, "\n\t") }

// Joined is Line for text of several lines, which it joins with "; ".
func Joined(s string) string { return Line(Join(s)) }

// Join joins the lines of a text with "; ", and escapes nothing.
func Join(s string) string {
	return strings.NewReplacer(":\n", ": ", "\n", "; ").Replace(strings.TrimSpace(s))
}

// Cell is Line for a column of a table that is not the last. It also escapes the second and further
// blanks of several in a row, so that a cell never looks like two.
func Cell(s string) string {
	s = Line(s)
	if !strings.Contains(s, "  ") {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if s[i] == ' ' && i > 0 && s[i-1] == ' ' {
			b.WriteString(`\x20`)
		} else {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// Short is Line for text that is cut to at most size bytes.
func Short(s string, size int) string { return Cut(Line(Cut(s, size)), size) }

// Cut returns at most size bytes of s, cut between two characters, with a mark if it was cut.
func Cut(s string, size int) string {
	if len(s) <= size {
		return s
	}
	for size > 0 && !utf8.RuneStart(s[size]) {
		size--
	}
	return s[:size] + "…"
}

// hasShape reports whether r is visible, and does not affect other characters.
func hasShape(r rune) bool {
	if r < utf8.RuneSelf {
		return ' ' <= r && r <= '~'
	}
	// Some characters that Unicode classifies as letters, marks or symbols are blank, or change the
	// shape of the character before.
	return unicode.IsPrint(r) && r != brailleBlank && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

const brailleBlank = '\u2800'

// plain returns the length of the longest beginning of s that needs no escape, in bytes.
func plain(s, keep string) int {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return i
			}
		}
		if !hasShape(r) && !strings.ContainsRune(keep, r) {
			return i
		}
	}
	return len(s)
}

func escape(s, keep string) string {
	n := plain(s, keep)
	if n == len(s) { // nearly always
		return s
	}
	b := []byte(s[:n])
	for s = s[n:]; s != ""; {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 {
			b = append(b, `\x`...)
			b = append(b, hexDigits[s[0]>>4], hexDigits[s[0]&0xf])
		} else {
			b = appendEscaped(b, r)
		}
		s = s[size:]
		n = plain(s, keep)
		b, s = append(b, s[:n]...), s[n:]
	}
	return string(b)
}

const hexDigits = "0123456789abcdef"

// appendEscaped appends the escape of a character without a shape.
func appendEscaped(b []byte, r rune) []byte {
	quoted := strconv.QuoteRuneToASCII(r)
	return append(b, quoted[1:len(quoted)-1]...)
}

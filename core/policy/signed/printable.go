package signed

import (
	"strconv"
	"strings"
	"unicode"
)

// printable makes text of a stranger fit for one line of a terminal or a log:
// what would steer it is escaped as in Go, tabs become blanks.
func printable(text string) string {
	var out strings.Builder
	for _, r := range text {
		switch {
		case r == '\t':
			out.WriteByte(' ')
		case unicode.IsPrint(r):
			out.WriteRune(r)
		default:
			quoted := strconv.QuoteRune(r)
			out.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return out.String()
}

// short is printable text of at most that many characters, and a mark where
// there was more.
func short(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return printable(string(r[:most])) + "…"
	}
	return printable(text)
}

package compile

import (
	"strings"
	"unicode"
)

// maxText is the longest text about one module, in bytes.
const maxText = 512

// oneLine is the first line of a text that can be shown: bounded, and without
// what a terminal or a log would act on.
func oneLine(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	text = strings.TrimSpace(text)
	var b strings.Builder
	for _, r := range text {
		if !unicode.IsPrint(r) {
			r = '?'
		}
		if b.Len()+len(string(r)) > maxText {
			b.WriteString("...")
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}

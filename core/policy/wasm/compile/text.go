package compile

import (
	"strings"

	"github.com/wardlet/wardlet/core/printable"
)

// maxText is the longest text about one module, in bytes.
const maxText = 512

// oneLine is the first line of a text, bounded and safe to show.
func oneLine(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return printable.Short(strings.TrimSpace(text), maxText)
}

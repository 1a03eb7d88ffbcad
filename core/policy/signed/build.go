package signed

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"unicode"
)

// Build makes the manifest of a set with that revision and those files, path to
// SHA-256 in hex. The same set has the same bytes. A set that cannot have a
// manifest (paths that are no text, too many files) results in one that
// ParseManifest refuses.
func Build(revision uint64, sums map[string]string) []byte {
	var b bytes.Buffer
	b.WriteString("# The manifest of a signed policy set. Any change of it makes the signature wrong.\n")
	fmt.Fprintf(&b, "api = %s\nrevision = %d\n", quoted(string(apiV1)), revision)
	for _, path := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&b, "\n[[file]]\npath = %s\nsha256 = %s\n", quoted(path), quoted(sums[path]))
	}
	return b.Bytes()
}

// quoted is text as a basic string of TOML. Bytes that are no UTF-8 stay, for
// the decoder to refuse.
func quoted(text string) string {
	out := []byte{'"'}
	for _, c := range []byte(text) {
		switch {
		case c == '"', c == '\\':
			out = append(out, '\\', c)
		case c <= unicode.MaxASCII && unicode.IsControl(rune(c)):
			out = fmt.Appendf(out, `\u%04X`, c)
		default:
			out = append(out, c)
		}
	}
	return string(append(out, '"'))
}

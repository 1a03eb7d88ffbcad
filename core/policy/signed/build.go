package signed

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"unicode"
)

// Build returns the manifest of a set. sums maps the path of each file to its SHA-256 in
// hex. The same set results in the same bytes. For a set that cannot have a manifest (paths
// that are no text, too many files) Build returns one that ParseManifest refuses.
func Build(revision uint64, sums map[string]string) []byte {
	var b bytes.Buffer
	b.WriteString("# The manifest of a signed policy set. Any change of it makes the signature wrong.\n")
	fmt.Fprintf(&b, "api = %s\nrevision = %d\n", quoted(string(apiV1)), revision)
	for _, path := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&b, "\n[[file]]\npath = %s\nsha256 = %s\n", quoted(path), quoted(sums[path]))
	}
	return b.Bytes()
}

// quoted returns text as a basic string of TOML. Bytes that are no UTF-8 stay, and the
// decoder refuses them.
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

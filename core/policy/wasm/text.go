package wasm

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// cut shortens s to at most limit bytes, between two characters.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// bounded makes of a guest's text one that is safe to show and has at most
// limit bytes, also where escapes made it longer.
func bounded(s string, limit int) string { return cut(printable(cut(s, limit)), limit) }

// maxShown bounds what an error takes from the guest, in bytes.
const maxShown = 500

// shown makes of a guest's text one that fits into an error.
func shown(s string) string { return printable(cut(strings.ToValidUTF8(s, "\uFFFD"), maxShown)) }

// plain says that s has only letters, digits and signs that are safe to show, and
// those in keep, which are ASCII.
func plain(s string, keep ...rune) bool {
	for i := range len(s) {
		if c := s[i]; (c < ' ' || c > '~') && !slices.Contains(keep, rune(c)) {
			return false
		}
	}
	return true
}

// printable makes of a guest's text one that is safe to show: invalid UTF-8 is
// replaced, control characters and those that turn the direction of writing
// are escaped, except for those in keep.
func printable(s string, keep ...rune) string {
	if plain(s, keep...) { // nearly always
		return s
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	escape := func(r rune) bool {
		if r < utf8.RuneSelf { // told at once: a guest may have a million of them escaped
			return (r < ' ' || r > '~') && !slices.Contains(keep, r)
		}
		return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
	}
	if strings.IndexFunc(s, escape) < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(2 * len(s))
	for _, r := range s {
		switch {
		case !escape(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		default:
			appendEscape(&b, r)
		}
	}
	return b.String()
}

// unusual is how many bytes of text are no letters, digits and signs of ASCII.
func unusual(text []byte) (n int) {
	for _, c := range text {
		if c < ' ' || c > '~' {
			n++
		}
	}
	return n
}

// appendEscape writes a character as \u and four hexadecimal digits, as all
// characters that are escaped have.
func appendEscape(b *strings.Builder, r rune) {
	const digits = "0123456789abcdef"
	b.Write([]byte{'\\', 'u', digits[r>>12&0xf], digits[r>>8&0xf], digits[r>>4&0xf], digits[r&0xf]})
}

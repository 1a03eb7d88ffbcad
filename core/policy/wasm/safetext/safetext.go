package safetext

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Cut shortens s to at most limit bytes, at the boundary of a character.
func Cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// Bounded returns a guest's text made safe to show and cut to limit bytes,
// including escapes.
func Bounded(s string, limit int) string { return Cut(Printable(Cut(s, limit)), limit) }

// MaxShown is how many bytes of a guest's text an error shows.
const MaxShown = 500

// Shown returns a guest's text cut and made safe for an error.
func Shown(s string) string { return Printable(Cut(strings.ToValidUTF8(s, "\uFFFD"), MaxShown)) }

// plain reports whether s has only printable ASCII characters, and those in keep,
// which are ASCII, too.
func plain(s string, keep ...rune) bool {
	for i := range len(s) {
		if c := s[i]; (c < ' ' || c > '~') && !slices.Contains(keep, rune(c)) {
			return false
		}
	}
	return true
}

// Printable returns a guest's text made safe to show. Invalid UTF-8 is replaced.
// Control characters and characters that change the direction of writing are
// escaped, except for those in keep.
func Printable(s string, keep ...rune) string {
	if plain(s, keep...) { // nearly always
		return s
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	escape := func(r rune) bool {
		if r < utf8.RuneSelf { // fast path: a guest may send a million of these
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

// Unusual returns how many bytes of text are not printable ASCII.
func Unusual(text []byte) (n int) {
	for _, c := range text {
		if c < ' ' || c > '~' {
			n++
		}
	}
	return n
}

// appendEscape writes a character as \u and four hexadecimal digits. All characters
// that are escaped fit into four.
func appendEscape(b *strings.Builder, r rune) {
	const digits = "0123456789abcdef"
	b.Write([]byte{'\\', 'u', digits[r>>12&0xf], digits[r>>8&0xf], digits[r>>4&0xf], digits[r&0xf]})
}

// Package charset detects the encoding of a text that is not UTF-8. Some editors and shells write
// such files without asking, and the encoding is invisible to the user.
package charset

import "bytes"

// ByteOrderMark is U+FEFF in UTF-8. Some editors begin a file with it.
const ByteOrderMark = "\ufeff"

// looked is the number of bytes to check in a text without a byte order mark.
const looked = 64

// Of names the encoding of a text in UTF-16 or UTF-32. It detects it by the byte order mark or by
// the zeros between letters. It returns "" for every other text.
func Of(text []byte) string {
	for _, mark := range []struct{ bytes, name string }{
		{"\xff\xfe\x00\x00", "UTF-32, little-endian"},
		{"\x00\x00\xfe\xff", "UTF-32, big-endian"},
		{"\xff\xfe", "UTF-16, little-endian"},
		{"\xfe\xff", "UTF-16, big-endian"},
	} {
		if bytes.HasPrefix(text, []byte(mark.bytes)) {
			return mark.name
		}
	}
	for _, form := range []struct {
		width, letter int
		name          string
	}{
		{4, 0, "UTF-32, little-endian"},
		{4, 3, "UTF-32, big-endian"},
		{2, 0, "UTF-16, little-endian"},
		{2, 1, "UTF-16, big-endian"},
	} {
		if spaced(text[:min(len(text), looked)], form.width, form.letter) {
			return form.name
		}
	}
	return ""
}

// spaced reports whether a text is ASCII in characters of width bytes: in each, only the byte at
// letter is not zero. At least two characters are required.
func spaced(text []byte, width, letter int) bool {
	text = text[:len(text)/width*width]
	for i, b := range text {
		if (i%width == letter) != (b != 0) {
			return false
		}
	}
	return len(text) >= 2*width
}

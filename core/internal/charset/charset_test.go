package charset

import (
	"encoding/binary"
	"testing"
	"unicode/utf16"
)

// written returns text in UTF-16 or, if width is 4, in UTF-32.
func written(text string, width int, order binary.AppendByteOrder) []byte {
	var out []byte
	for _, r := range text {
		if width == 4 {
			out = order.AppendUint32(out, uint32(r))
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			out = order.AppendUint16(out, unit)
		}
	}
	return out
}

func TestOf(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		rule string
		text []byte
		want string
	}{
		{"nothing", nil, ""},
		{"UTF-8", []byte("a: ü\n"), ""},
		{"UTF-8 with a mark", []byte("\ufeffa: b\n"), ""},
		{"another encoding of single bytes", []byte("a: \xfc\n"), ""},
		{"zeros, as a write that broke off leaves them", make([]byte, 4096), ""},
		{"one letter and a zero", []byte("a\x00"), ""},
		{"letters and then zeros", []byte("a: b\n\x00\x00\x00\x00"), ""},
		{"UTF-16 of PowerShell", written("\ufeffa: ü\r\n", 2, binary.LittleEndian), "UTF-16, little-endian"},
		{"UTF-16 of the other order", written("\ufeffa: b", 2, binary.BigEndian), "UTF-16, big-endian"},
		{"UTF-16 without a mark", written("a: b\r\n", 2, binary.LittleEndian), "UTF-16, little-endian"},
		{"UTF-16 of the other order without a mark", written("a: b\r\n", 2, binary.BigEndian), "UTF-16, big-endian"},
		{"UTF-32", written("\ufeffa", 4, binary.LittleEndian), "UTF-32, little-endian"},
		{"UTF-32 of the other order", written("\ufeffa", 4, binary.BigEndian), "UTF-32, big-endian"},
		{"UTF-32 without a mark", written("a: b", 4, binary.LittleEndian), "UTF-32, little-endian"},
		{"UTF-32 of the other order without a mark", written("a: b", 4, binary.BigEndian), "UTF-32, big-endian"},
		{"the mark of UTF-16 alone, and UTF-8 after it", []byte("\xff\xfea: b\n"), "UTF-16, little-endian"},
		{"half of the last character", append(written("a: b", 2, binary.LittleEndian), 'c'), "UTF-16, little-endian"},
	} {
		if got := Of(tc.text); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.rule, got, tc.want)
		}
	}
}

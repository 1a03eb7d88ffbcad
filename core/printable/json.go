package printable

import (
	"bytes"
	"encoding/json"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON returns equivalent JSON in which every character without a shape is an escape: \u and four
// digits, or two of these if four are not enough. Bytes that are not UTF-8 become U+FFFD, as in
// readers of JSON. Line ends and tabs between the values are kept.
func JSON(data []byte) []byte {
	return eachWithoutShape(data, func(b []byte, r rune) []byte {
		if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			return appendUnicode(appendUnicode(b, high), low)
		}
		return appendUnicode(b, r)
	})
}

// eachWithoutShape returns data with each character without a shape replaced by the output of
// write.
func eachWithoutShape(data []byte, write func(b []byte, r rune) []byte) []byte {
	var b []byte
	done := 0
	for i := 0; i < len(data); {
		r, size := rune(data[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(data[i:])
		}
		if !hasShape(r) && r != '\n' && r != '\t' || r == utf8.RuneError && size == 1 {
			b = write(append(b, data[done:i]...), r)
			done = i + size
		}
		i += size
	}
	if done == 0 {
		return data
	}
	return append(b, data[done:]...)
}

// appendUnicode appends \u and the four digits of r.
func appendUnicode(b []byte, r rune) []byte {
	return append(b, '\\', 'u', hexDigits[r>>12&0xf], hexDigits[r>>8&0xf], hexDigits[r>>4&0xf], hexDigits[r&0xf])
}

// WriteJSON writes v as indented JSON.
func WriteJSON(w io.Writer, v any) error {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "    ")
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(JSON(out.Bytes()))
	return err
}

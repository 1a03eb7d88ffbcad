package sdk

import "github.com/wardlet/wardlet/plugins/sdk/internal/guest"

// Text composes a text, such as an explanation. While a pod is judged, a Text uses memory
// that the call has anyway, so composing costs little. Joining strings with + allocates new
// memory each time. The zero Text is empty. A Text must not be copied after the first Add.
type Text struct{ bytes []byte }

// Add adds parts one after the other.
func (t *Text) Add(parts ...string) {
	n, b := len(t.bytes), t.bytes[:cap(t.bytes)]
	for _, part := range parts {
		if len(part) == 0 {
			continue
		}
		if len(b)-n < len(part) {
			b = guest.Grow(b[:n], len(part))
			b = b[:cap(b)]
		}
		n += copy(b[n:], part)
	}
	t.bytes = b[:n]
}

// AddInt adds an integer in decimal.
func (t *Text) AddInt(n int64) {
	var digits [guest.MaxDigits]byte
	b := guest.Digits(&digits, n)
	t.bytes = append(guest.Grow(t.bytes, len(b)), b...)
}

// Len returns the number of bytes so far.
func (t *Text) Len() int { return len(t.bytes) }

// String returns the text so far. Later calls of Add do not change the result.
func (t *Text) String() string { return guest.Text(t.bytes) }

// Concat joins parts as + does. While a pod is judged, it uses memory that the call has
// anyway.
func Concat(parts ...string) string {
	var t Text
	t.Add(parts...)
	return t.String()
}

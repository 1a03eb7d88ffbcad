package sdk

import "github.com/wardlet/wardlet/plugins/sdk/internal/guest"

// Text is a text under construction, such as an explanation. While a pod is
// judged it lies in memory that the call has anyway, so that composing it
// costs little; joining strings with + takes new memory each time. The zero
// Text is empty. It must not be copied once it has been added to.
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

// Len is the number of bytes so far.
func (t *Text) Len() int { return len(t.bytes) }

// String is the text so far. What is added later does not change it.
func (t *Text) String() string { return guest.Text(t.bytes) }

// Concat joins parts as + does, but while a pod is judged in memory that the
// call has anyway.
func Concat(parts ...string) string {
	var t Text
	t.Add(parts...)
	return t.String()
}

package record

import "unsafe"

// Parts goes through what a List or a Map is made of. It counts bytes from
// base, and makes no pointer to where nothing is.
type Parts struct {
	base    unsafe.Pointer
	at, end int
}

// Next returns the next element of a List; false after the last one that is
// whole. It calls nothing, so that loops can do without a call too.
func (p *Parts) Next() (element Value, ok bool) {
	left := p.end - p.at - header
	if left < 0 {
		return Value{}, false
	}
	h := (*head)(unsafe.Add(p.base, p.at))
	n := h.size()
	if n > left || !h.fits(n) {
		return Value{}, false
	}
	p.at += header + n
	return Value{h}, true
}

// Peek returns the next element of a List, of which only the head is known to be
// there, and how many bytes are left behind it; a negative number where not even
// the head is.
func (p *Parts) Peek() (element Value, left int) {
	if left = p.end - p.at - header; left >= 0 {
		element.head = (*head)(unsafe.Add(p.base, p.at))
	}
	return element, left
}

// Skip goes on behind an element of n bytes, which must be there.
func (p *Parts) Skip(n int) { p.at += header + n }

// Entry returns the next entry of a Map; false after the last one that is whole.
func (p *Parts) Entry() (key, value string, ok bool) {
	if key, ok = p.text(); ok {
		value, ok = p.text()
	}
	return key, value, ok
}

// text takes a u32 length and that many bytes.
func (p *Parts) text() (text string, ok bool) {
	left := p.end - p.at
	if left < count {
		return "", false
	}
	b := (*[count]byte)(unsafe.Add(p.base, p.at))
	n := int(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24)
	if n > left-count {
		return "", false
	}
	if n > 0 {
		text = unsafe.String((*byte)(unsafe.Add(p.base, p.at+count)), n)
	}
	p.at += count + n
	return text, true
}

// More reports whether something is left: once Next or Entry gave false, that
// is torn.
func (p *Parts) More() bool { return p.at != p.end }

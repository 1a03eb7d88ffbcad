package record

import "unsafe"

// Parts iterates over the parts of a List or a Map. It has offsets from base instead of
// pointers, because a pointer must not point past the end of the memory.
type Parts struct {
	base    unsafe.Pointer
	at, end int
}

// Next returns the next element of a List, and false if no whole element is left. It calls
// no function, so that it can be inlined into loops.
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

// Peek returns the next element of a List, and how many bytes are left after its head. The
// number is negative if the head is torn. Peek does not check the rest of the element.
func (p *Parts) Peek() (element Value, left int) {
	if left = p.end - p.at - header; left >= 0 {
		element.head = (*head)(unsafe.Add(p.base, p.at))
	}
	return element, left
}

// Skip moves past an element of n bytes, which must not be torn.
func (p *Parts) Skip(n int) { p.at += header + n }

// Entry returns the next entry of a Map, and false if no whole entry is left.
func (p *Parts) Entry() (key, value string, ok bool) {
	if key, ok = p.text(); ok {
		value, ok = p.text()
	}
	return key, value, ok
}

// text reads a u32 length and that many bytes.
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

// More reports whether bytes are left. After Next or Entry returned false, these bytes are
// torn.
func (p *Parts) More() bool { return p.at != p.end }

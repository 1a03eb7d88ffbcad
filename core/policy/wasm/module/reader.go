package module

import "fmt"

// reader decodes the bytes of a module. After the first fault, which it keeps, it
// reads only zeros. All offsets are offsets in the module.
type reader struct {
	data []byte // up to the end of what may be read
	at   int
	// section and index are the present place, for faults.
	section string
	index   int
	err     *Fault
}

func (r *reader) fail(format string, args ...any) { r.failAt(r.at, format, args...) }

func (r *reader) failAt(offset int, format string, args ...any) {
	if r.err == nil {
		r.err = &Fault{Section: r.section, Index: r.index, Offset: offset, What: fmt.Sprintf(format, args...)}
	}
	r.at = len(r.data)
}

func (r *reader) left() int { return len(r.data) - r.at }

func (r *reader) byte() byte {
	if r.left() < 1 {
		r.fail("it ends in the middle")
		return 0
	}
	r.at++
	return r.data[r.at-1]
}

// take returns the next n bytes.
func (r *reader) take(n uint32) []byte {
	if uint64(n) > uint64(r.left()) {
		r.fail("%d bytes are announced, %d are left", n, r.left())
		return nil
	}
	r.at += int(n)
	return r.data[r.at-int(n) : r.at : r.at]
}

// u32 reads an unsigned number in LEB128.
func (r *reader) u32() uint32 {
	if r.at < len(r.data) && r.data[r.at] < 0x80 {
		r.at++
		return uint32(r.data[r.at-1])
	}
	return uint32(r.unsigned(32))
}

func (r *reader) unsigned(bits int) uint64 {
	begin := r.at
	var value uint64
	for shift := 0; shift < bits; shift += 7 {
		b := r.byte()
		if r.err != nil {
			return 0
		}
		if left := bits - shift; left < 7 && b>>left != 0 {
			break
		}
		value |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return value
		}
	}
	r.failAt(begin, "a number of more than %d bits", bits)
	return 0
}

// signed reads a signed number in LEB128.
func (r *reader) signed(bits int) int64 {
	begin := r.at
	var value int64
	for shift := 0; shift < bits; shift += 7 {
		b := r.byte()
		if r.err != nil {
			return 0
		}
		if left := bits - shift; left < 7 {
			// The unused bits must repeat the sign, and this must be the last byte.
			if sign := int8(b<<1) >> left; b >= 0x80 || sign != 0 && sign != -1 {
				break
			}
		}
		value |= int64(b&0x7f) << shift
		if b < 0x80 {
			if used := shift + 7; used < 64 {
				value = value << (64 - used) >> (64 - used)
			}
			return value
		}
	}
	r.failAt(begin, "a number of more than %d bits", bits)
	return 0
}

// count reads the length of a list whose elements have at least one byte each.
func (r *reader) count() int {
	begin := r.at
	n := r.u32()
	if uint64(n) > uint64(r.left()) {
		r.failAt(begin, "%d elements are announced, %d bytes are left", n, r.left())
		return 0
	}
	return int(n)
}

// below reads an index that must be less than n.
func (r *reader) below(n int, what string) uint32 {
	begin := r.at
	i := r.u32()
	if r.err == nil && uint64(i) >= uint64(n) {
		r.failAt(begin, "there is no %s %d", what, i)
		return 0
	}
	return i
}

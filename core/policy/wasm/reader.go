package wasm

import "fmt"

// reader reads the encodings of a module's sections. The first fault sticks:
// from then on everything reads as zero, and err names the offset.
type reader struct {
	data []byte
	at   int
	err  error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("at byte %d: %s", r.at, fmt.Sprintf(format, args...))
	}
	r.at = len(r.data)
}

func (r *reader) left() int { return len(r.data) - r.at }

func (r *reader) byte() byte {
	if r.left() < 1 {
		r.fail("the module ends in the middle of a section")
		return 0
	}
	r.at++
	return r.data[r.at-1]
}

// take is the next n bytes.
func (r *reader) take(n uint32) []byte {
	if uint64(n) > uint64(r.left()) {
		r.fail("%d bytes announced, %d are left", n, r.left())
		return nil
	}
	r.at += int(n)
	return r.data[r.at-int(n) : r.at]
}

// leb reads a number of at most that many bytes and gives its low 64 bits.
func (r *reader) leb(most int) uint64 {
	var value uint64
	for i := range most {
		b := r.byte()
		value |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			return value
		}
	}
	r.fail("a number of more than %d bytes", most)
	return 0
}

func (r *reader) u32() uint32 {
	value := r.leb(5)
	if value > 1<<32-1 {
		r.fail("a number of more than 32 bits")
		return 0
	}
	return uint32(value)
}

// signed32 is a signed number of 32 bits.
func (r *reader) signed32() int64 {
	begin := r.at
	value := int64(r.leb(5))
	if bits := 7 * (r.at - begin); bits > 0 && bits < 64 {
		value = value << (64 - bits) >> (64 - bits)
	}
	return value
}

// count is the length of a list whose elements take at least one byte each.
func (r *reader) count() int {
	n := r.u32()
	if uint64(n) > uint64(r.left()) {
		r.fail("%d elements announced, %d bytes are left", n, r.left())
		return 0
	}
	return int(n)
}

func (r *reader) name() string { return string(r.take(r.u32())) }

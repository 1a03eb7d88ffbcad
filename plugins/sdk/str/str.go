// Package str has those functions of package strings that policies call most,
// made for WebAssembly: Go's own look at one byte at a time there, these at
// eight. What they give is the same.
//
// Comes in: texts of any bytes. Goes out: whether and where one holds the
// other. The package owns no goroutine and no state.
package str

import (
	"math/bits"
	"unsafe"
)

// word is how many bytes are looked at together.
const word = 8

// load returns the eight bytes of s from i on, the first one lowest. They must
// all be there.
func load(s string, i int) uint64 {
	b := (*[word]byte)(unsafe.Add(unsafe.Pointer(unsafe.StringData(s)), i))
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// Equal reports whether both texts are the same, as == does.
func Equal(s, t string) bool { return len(s) == len(t) && same(s, t) }

// HasPrefix reports whether s begins with prefix.
func HasPrefix(s, prefix string) bool { return len(s) >= len(prefix) && same(s, prefix) }

// HasSuffix reports whether s ends with suffix.
func HasSuffix(s, suffix string) bool {
	n := len(s) - len(suffix)
	return n >= 0 && same(s[n:], suffix)
}

// same reports whether s, which is as long as t at least, begins with it.
func same(s, t string) bool {
	last := len(t) - word
	if last < 0 {
		for i := range len(t) {
			if s[i] != t[i] {
				return false
			}
		}
		return true
	}
	for i := 0; i < last; i += word {
		if load(s, i) != load(t, i) {
			return false
		}
	}
	// The last eight may overlap those before.
	return load(s, last) == load(t, last)
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// hits marks with their highest bit which of the eight bytes of w are 0: the
// lowest mark is right, those above it may not be.
func hits(w uint64) uint64 { return (w - ones) &^ w & highs }

// IndexByte is where s first holds c, or -1.
func IndexByte(s string, c byte) int {
	each := uint64(c) * ones
	last := len(s) - word
	if last < 0 {
		for i := range len(s) {
			if s[i] == c {
				return i
			}
		}
		return -1
	}
	i := 0
	for ; i < last-word; i += 2 * word {
		first := hits(load(s, i) ^ each)
		if found := first | hits(load(s, i+word)^each); found != 0 {
			if first == 0 {
				i += word
			} else {
				found = first
			}
			return i + bits.TrailingZeros64(found)/8
		}
	}
	if i < last {
		if found := hits(load(s, i) ^ each); found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	// The last eight may overlap those before, which do not hold it.
	if found := hits(load(s, last) ^ each); found != 0 {
		return last + bits.TrailingZeros64(found)/8
	}
	return -1
}

// HasByte reports whether s holds c.
func HasByte(s string, c byte) bool { return IndexByte(s, c) >= 0 }

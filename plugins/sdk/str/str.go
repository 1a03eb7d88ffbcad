// Package str has faster versions, for WebAssembly, of the functions of package strings
// that policies call most. In WebAssembly the functions of package strings read one byte at
// a time, those of package str eight. The results are the same.
//
// Comes in: texts of any bytes. Goes out: whether a text contains another, and where. The
// package starts no goroutine and has no state.
package str

import (
	"math/bits"
	"unsafe"
)

// word is how many bytes are read at once.
const word = 8

// load returns the eight bytes of s from index i as a number, with the first byte as the
// lowest. s must have them all.
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

// same reports whether s begins with t. s must be at least as long as t.
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
	// The last eight bytes may overlap the bytes compared before.
	return load(s, last) == load(t, last)
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// hits returns a number in which the highest bit of each byte is set if that byte of w is
// 0. Only the lowest set bit is reliable; bits above it may be wrong.
func hits(w uint64) uint64 { return (w - ones) &^ w & highs }

// IndexByte returns the index of the first c in s, or -1.
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
	// The last eight bytes may overlap the bytes searched before, which do not contain c.
	if found := hits(load(s, last) ^ each); found != 0 {
		return last + bits.TrailingZeros64(found)/8
	}
	return -1
}

// HasByte reports whether s contains c.
func HasByte(s string, c byte) bool { return IndexByte(s, c) >= 0 }

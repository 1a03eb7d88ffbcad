package durabletest

import "slices"

// Harms are the ways in which a file can be damaged at one of its bytes.
var Harms = map[string]func(data []byte, at int) []byte{
	"cut off":                func(data []byte, at int) []byte { return data[:at] },
	"cut off, and then zero": func(data []byte, at int) []byte { return append(data[:at:at], make([]byte, len(data)-at)...) },
	"a byte missing":         func(data []byte, at int) []byte { return slices.Delete(slices.Clone(data), at, at+1) },
	"a bit flipped": func(data []byte, at int) []byte {
		data = slices.Clone(data)
		data[at] ^= 1 << (at % 8)
		return data
	},
}

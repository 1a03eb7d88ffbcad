package spectest

// isNaN reports whether the bits of a number of that type are a NaN of the class. A canonical NaN
// has only the highest bit of its fraction set, an arithmetic NaN at least that bit. The sign does
// not matter.
func isNaN(element, class string, bits uint64) bool {
	quiet, rest := uint64(0x7fc00000), uint64(0x003fffff)
	if element == "f64" {
		quiet, rest = 0x7ff8000000000000, 0x0007ffffffffffff
	}
	if class == "canonical" {
		return bits&(quiet|rest) == quiet
	}
	return bits&quiet == quiet
}

package main

// The grammar of references to images, as in github.com/distribution/reference. This
// package uses no regular expressions: with them, the plugin would be nearly a third
// larger, and slower by more than that.

// class is a set of characters, as bits.
type class byte

const (
	digit class = 1 << iota
	lower
	upper
	// lowerHex and upperHex are the letters of hexadecimal digits.
	lowerHex
	upperHex
	// dash is the dash; mark are the two other marks that tags may contain.
	dash
	mark

	alphanumeric = digit | lower | upper
	// word are the characters between the separators of a path.
	word = digit | lower
)

// classes has for each byte the classes that it belongs to.
var classes = func() (table [256]class) {
	for c := range table {
		switch c := byte(c); {
		case '0' <= c && c <= '9':
			table[c] = digit
		case 'a' <= c && c <= 'f':
			table[c] = lower | lowerHex
		case 'a' <= c && c <= 'z':
			table[c] = lower
		case 'A' <= c && c <= 'F':
			table[c] = upper | upperHex
		case 'A' <= c && c <= 'Z':
			table[c] = upper
		case c == '-':
			table[c] = dash
		case c == '.' || c == '_':
			table[c] = mark
		}
	}
	return table
}()

// only reports whether all characters of s belong to the classes c.
func only(s string, c class) bool {
	for i := range len(s) {
		if classes[s[i]]&c == 0 {
			return false
		}
	}
	return true
}

func isTag(s string) bool {
	return s != "" && len(s) <= maxTag && s[0] != '.' && s[0] != '-' && only(s, alphanumeric|dash|mark)
}

func isDigest(s string) bool {
	length := 0
	switch {
	case len(s) < len("sha256:"):
	case s[:7] == "sha256:":
		length = 64
	case s[:7] == "sha384:":
		length = 96
	case s[:7] == "sha512:":
		length = 128
	}
	return length > 0 && len(s) == 7+length && only(s[7:], digit|lowerHex)
}

// isRegistry reports whether s is a host name or an address, with or without a port.
func isRegistry(s string) bool {
	host := s
	for i := len(s) - 1; i >= 0 && s[i] != ']'; i-- {
		if s[i] == ':' {
			if i == len(s)-1 || !only(s[i+1:], digit) {
				return false
			}
			host = s[:i]
			break
		}
	}
	if len(host) > 0 && host[0] == '[' {
		end := len(host) - 1
		if host[end] != ']' || end < 2 {
			return false
		}
		for i := 1; i < end; i++ {
			if host[i] != ':' && classes[host[i]]&(digit|lowerHex|upperHex) == 0 {
				return false
			}
		}
		return true
	}
	return isHostName(host)
}

// isHostName reports whether s has letters, digits and dashes between dots, without a dash
// next to a dot or at either end.
func isHostName(s string) bool {
	before := byte('.')
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '.':
			if before == '.' || before == '-' {
				return false
			}
		case c == '-':
			if before == '.' {
				return false
			}
		case classes[c]&alphanumeric == 0:
			return false
		}
		before = c
	}
	return before != '.' && before != '-'
}

// isPath reports whether s has runs of lower case letters and digits, separated by one
// slash, one dot, one or two underscores, or any number of dashes.
func isPath(s string) bool {
	for i := 0; ; {
		begin := i
		for i < len(s) && classes[s[i]]&word != 0 {
			i++
		}
		switch {
		case i == begin:
			return false
		case i == len(s):
			return true
		case s[i] == '/' || s[i] == '.':
			i++
		case s[i] == '_':
			if i++; i < len(s) && s[i] == '_' {
				i++
			}
		case s[i] == '-':
			for i < len(s) && s[i] == '-' {
				i++
			}
		default:
			return false
		}
	}
}

// toLower returns s with its letters in lower case; s must be ASCII.
func toLower(s string) string {
	for i := range len(s) {
		if classes[s[i]]&upper == 0 {
			continue
		}
		b := []byte(s)
		for ; i < len(b); i++ {
			if classes[b[i]]&upper != 0 {
				b[i] += 'a' - 'A'
			}
		}
		return string(b)
	}
	return s
}

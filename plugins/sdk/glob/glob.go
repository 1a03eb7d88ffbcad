// Package glob matches names against patterns in which a * stands for any number of any
// characters. No other character is special, and a * cannot be escaped.
//
// Comes in: a pattern and a name, of any bytes. Goes out: whether they match. The package
// starts no goroutine and has no state. Unlike regular expressions, it is small enough for
// plugins.
package glob

// Match reports whether the whole name matches the pattern. In the worst case its time is
// proportional to the product of both lengths.
func Match(pattern, name string) bool {
	// Each part between stars is matched at its first position in the name, which leaves
	// the longest rest for the other parts. If the rest does not match, the part after the
	// last star is tried one position later.
	at, star, from := 0, -1, 0
	for i := 0; i < len(name); {
		switch {
		case at < len(pattern) && pattern[at] == '*':
			star, from = at, i
			at++
		case at < len(pattern) && pattern[at] == name[i]:
			at++
			i++
		case star >= 0:
			from++
			at, i = star+1, from
		default:
			return false
		}
	}
	for at < len(pattern) && pattern[at] == '*' {
		at++
	}
	return at == len(pattern)
}

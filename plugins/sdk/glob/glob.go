// Package glob matches names against patterns in which a * stands for any run
// of characters, also for none. Nothing else is special, and nothing escapes a
// *.
//
// Comes in: a pattern and a name, of any bytes. Goes out: whether they match.
// The package owns no goroutine and no state, and is small enough for plugins,
// which regular expressions are not.
package glob

// Match reports whether the whole name matches the pattern. It takes time in
// proportion to the product of both lengths at worst.
func Match(pattern, name string) bool {
	// Each part between stars is best taken at its first place: that leaves most
	// for the others. If the rest does not fit, the part after the last star is
	// tried one place further on.
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

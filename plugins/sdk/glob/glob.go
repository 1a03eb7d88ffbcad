// Package glob matches names against patterns in which a * stands for any run
// of characters, also for none. Nothing else is special, and nothing escapes a
// *.
//
// Comes in: a pattern and a name, of any bytes. Goes out: whether they match.
// The package owns no goroutine and no state, and is small enough for plugins,
// which regular expressions are not.
package glob

import "strings"

// Match reports whether the whole name matches the pattern. It takes time in
// proportion to the product of both lengths at worst.
func Match(pattern, name string) bool {
	first, rest, starred := strings.Cut(pattern, "*")
	if !starred {
		return name == first
	}
	name, ok := strings.CutPrefix(name, first)
	if !ok {
		return false
	}
	// Each part is best taken at its first place: that leaves most for the
	// others. Only the last one is bound to the end.
	for {
		part, after, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(name, part)
		}
		at := strings.Index(name, part)
		if at < 0 {
			return false
		}
		name, rest = name[at+len(part):], after
	}
}

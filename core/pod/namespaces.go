package pod

import "strings"

// MatchNamespace reports whether a pattern for names of namespaces, in which
// "*" stands for any run of characters, also for none, covers a name. It takes
// time in proportion to the product of both lengths at worst.
func MatchNamespace(pattern, name string) bool {
	first, rest, starred := strings.Cut(pattern, "*")
	if !starred {
		return pattern == name
	}
	name, ok := strings.CutPrefix(name, first)
	if !ok {
		return false
	}
	// A part is best taken at its first place, which leaves most for those
	// that follow. Only the last one must be at the end.
	for {
		part, more, starred := strings.Cut(rest, "*")
		if !starred {
			return strings.HasSuffix(name, part)
		}
		if _, name, ok = strings.Cut(name, part); !ok {
			return false
		}
		rest = more
	}
}

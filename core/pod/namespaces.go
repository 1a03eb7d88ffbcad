package pod

import "strings"

// MatchNamespace reports whether name matches a pattern for namespace names, in which "*" matches
// any number of characters, including none. In the worst case its running time is proportional to
// the product of both lengths.
func MatchNamespace(pattern, name string) bool {
	first, rest, starred := strings.Cut(pattern, "*")
	if !starred {
		return pattern == name
	}
	name, ok := strings.CutPrefix(name, first)
	if !ok {
		return false
	}
	// Each part is matched at its first occurrence, which leaves most of name for the parts that
	// follow. Only the last part must match at the end.
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

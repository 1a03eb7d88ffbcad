package policy

import (
	"fmt"
	"strings"
)

// glob is a pattern for the name of a namespace: "*" stands for any run of
// characters, also for none.
type glob string

// fault says why no namespace could ever match, empty where one could.
func (g glob) fault() string {
	const characters = "abcdefghijklmnopqrstuvwxyz0123456789-*"
	if g == "" || strings.ContainsFunc(string(g), func(r rune) bool { return !strings.ContainsRune(characters, r) }) {
		return fmt.Sprintf(`want a namespace such as "web", or a pattern such as "tenant-a-*", found %.80q`, string(g))
	}
	return ""
}

// matches takes time in proportion to the product of both lengths at worst.
func (g glob) matches(name string) bool {
	first, rest, starred := strings.Cut(string(g), "*")
	if !starred {
		return first == name
	}
	name, ok := strings.CutPrefix(name, first)
	if !ok {
		return false
	}
	// Each part is best taken at its first place: that leaves most for the
	// others. Only the last one is bound to the end.
	parts := strings.Split(rest, "*")
	for _, part := range parts[:len(parts)-1] {
		at := strings.Index(name, part)
		if at < 0 {
			return false
		}
		name = name[at+len(part):]
	}
	return strings.HasSuffix(name, parts[len(parts)-1])
}

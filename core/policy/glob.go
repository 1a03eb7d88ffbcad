package policy

import (
	"fmt"
	"strings"

	"github.com/wardlet/wardlet/core/pod"
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

func (g glob) matches(name string) bool { return pod.MatchNamespace(string(g), name) }

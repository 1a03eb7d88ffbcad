package manifest

import (
	"strings"
	"testing"
)

func TestSilent(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"":                            true,
		" \r\n\t\n":                   true,
		"\x00\x00\n":                  true,
		"\ufeff":                      true,
		"# a: b\n---\n--- # c\n...\n": true,
		"\f\n":                        true,
		"# List\n":                    true,
		"null":                        false,
		"{}":                          false,
		"# a\n---\nb":                 false,
		"apiVersion: v1\nkind: PodList\nitems: []\n": false,
	} {
		if got := Silent([]byte(text)); got != want {
			t.Errorf("%q is silent: %v, want %v", text, got, want)
		}
	}
}

// FuzzSilent checks that a text without documents is silent or has a list, and that a silent
// text has no pods.
func FuzzSilent(f *testing.F) {
	f.Add("# a\n---\n")
	f.Add("apiVersion: v1\nkind: List\nitems: []\n")
	f.Add("\f")
	f.Fuzz(func(t *testing.T, text string) {
		docs := Decode([]byte(text), testFrom)
		if len(docs) == 0 && !Silent([]byte(text)) && !strings.Contains(text, "items") && !strings.Contains(text, "List") {
			t.Errorf("no documents in %q", text)
		}
		for _, d := range docs {
			if d.Pod != nil && Silent([]byte(text)) {
				t.Errorf("a pod in %q", text)
			}
		}
	})
}

package pod

import (
	"path"
	"strings"
	"testing"
)

func TestMatchNamespace(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		pattern, name string
		want          bool
	}{
		{"a", "a", true},
		{"a", "ab", false},
		{"a", "", false},
		{"*", "", true},
		{"*", "anything", true},
		{"tenant-a-*", "tenant-a-web", true},
		{"tenant-a-*", "tenant-a-", true},
		{"tenant-a-*", "tenant-ab", false},
		{"*-web", "a-web", true},
		{"*-web", "a-web-b", false},
		{"a*a", "a", false},
		{"a*b*c", "a-b-b-c", true},
		{"a*b*c", "acb", false},
		{"**", "a", true},
	} {
		if got := MatchNamespace(tc.pattern, tc.name); got != tc.want {
			t.Errorf("%q covers %q: %v, want %v", tc.pattern, tc.name, got, tc.want)
		}
	}
}

// A pattern has the same meaning in a shell if the name has no slash and the pattern's only special
// characters are stars.
func FuzzMatchNamespace(f *testing.F) {
	f.Add("a*b*c", "a-b-b-c")
	f.Add("*a*", "bab")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if strings.ContainsAny(pattern+name, `/?[\`) {
			return
		}
		want, err := path.Match(pattern, name)
		if err != nil {
			t.Fatal(err)
		}
		if got := MatchNamespace(pattern, name); got != want {
			t.Errorf("%q covers %q: %v, want %v", pattern, name, got, want)
		}
	})
}

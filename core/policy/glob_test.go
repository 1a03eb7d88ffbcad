package policy

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestGlobs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		glob glob
		name string
		want bool
	}{
		{"web", "web", true},
		{"web", "web-2", false},
		{"web", "we", false},
		{"*", "", true},
		{"*", "anything", true},
		{"tenant-a-*", "tenant-a-web", true},
		{"tenant-a-*", "tenant-a-", true},
		{"tenant-a-*", "tenant-b-web", false},
		{"tenant-a-*", "my-tenant-a-web", false},
		{"*-web", "a-web", true},
		{"*-web", "a-web-2", false},
		{"a*a", "a", false},
		{"a*a", "aa", true},
		{"a*b*c", "a-b-b-c", true},
		{"a*b*c", "a-c-b", false},
		{"a**c", "abc", true},
	} {
		if got := test.glob.matches(test.name); got != test.want {
			t.Errorf("%q matches %q = %t, want %t", test.glob, test.name, got, test.want)
		}
	}
}

func TestAGlobOfManyStarsIsNoTrap(t *testing.T) {
	t.Parallel()
	g := glob(strings.Repeat("a*", 20_000) + "b")
	began := time.Now()
	if g.matches(strings.Repeat("a", 63)) {
		t.Error("it matches")
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("it took %s", took)
	}
}

func FuzzGlob(f *testing.F) {
	f.Add("tenant-*-a*", "tenant-b-ab")
	f.Add("a*a", "a")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		g := glob(pattern)
		if g.fault() != "" {
			return
		}
		want := regexp.MustCompile("(?s)^" + strings.ReplaceAll(pattern, "*", ".*") + "$").MatchString(strings.ToValidUTF8(name, "?"))
		if got := g.matches(strings.ToValidUTF8(name, "?")); got != want {
			t.Errorf("%q matches %q = %t, want %t", pattern, name, got, want)
		}
	})
}

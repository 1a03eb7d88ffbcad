package spec

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

func TestAPolicyIsAskedAbout(t *testing.T) {
	t.Parallel()
	add := policytest.Question("web")
	update := policytest.Question("web", func(q *api.Question) { q.Op = api.UpdateOp })
	replacement := policytest.Question("web", func(q *api.Question) { q.Replaces = "uid-old" })
	for name, test := range map[string]struct {
		match string
		q     api.Question
		kind  string
		want  bool
	}{
		"everything, where it says nothing":           {"", add, "file", true},
		"a source of its kinds":                       {"sources = [\"http\", \"file\"]", add, "file", true},
		"no source of another kind":                   {"sources = [\"http\", \"api\"]", add, "file", false},
		"a source of unknown kind":                    {"sources = [\"http\"]", add, "", true},
		"a namespace of its patterns":                 {"namespaces = [\"a\", \"sh*\"]", add, "file", true},
		"no other namespace":                          {"namespaces = [\"a\", \"b-*\"]", add, "file", false},
		"pods of its labels":                          {"label_selector = \"tier in (web,api)\"", add, "file", true},
		"no pods of other labels":                     {"label_selector = \"tier notin (web,api)\"", add, "file", false},
		"pods without a label it must not have":       {"label_selector = \"!secret\"", add, "file", true},
		"new pods":                                    {"operations = [\"ADD\"]", add, "file", true},
		"no changes, if only new pods":                {"operations = [\"ADD\"]", update, "file", false},
		"changes":                                     {"operations = [\"UPDATE\"]", update, "file", true},
		"no new pods, if only changes":                {"operations = [\"UPDATE\"]", add, "file", false},
		"a replacement, if only new pods":             {"operations = [\"ADD\"]", replacement, "file", true},
		"a replacement, if only changes":              {"operations = [\"UPDATE\"]", replacement, "file", true},
		"nothing where one of several does not match": {"sources = [\"file\"]\nnamespaces = [\"shop\"]\nlabel_selector = \"tier=db\"", add, "file", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := parse(minimal+"[match]\n"+test.match+"\n", false)
			policytest.Must(t, err)
			if got := d.Match.Matches(&test.q, test.kind); got != test.want {
				t.Errorf("matches = %t, want %t", got, test.want)
			}
		})
	}
}

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

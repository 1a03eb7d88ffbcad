package policy

import (
	"testing"

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
			if got := d.Match.matches(&test.q, test.kind); got != test.want {
				t.Errorf("matches = %t, want %t", got, test.want)
			}
		})
	}
}

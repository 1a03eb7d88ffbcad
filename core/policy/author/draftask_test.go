package author

import (
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

func TestDraft_appliesExceptions(t *testing.T) {
	t.Parallel()
	const exception = "\n[[exception]]\npods = [\"shop/web\"]\nowner = \"ana\"\nexpires = \"2026-03-01\"\nreason = \"moves\""
	const excepted = "abstain (an exception of ana until 2026-03-02T00:00:00Z: moves)"
	march := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		document, keys, groupKeys string
		at                        time.Time
		want                      string
	}{
		"of a policy":              {"m.toml", exception, "", time.Time{}, excepted},
		"that has ended":           {"m.toml", exception, "", march, "deny"},
		"of a pod by another name": {"m.toml", strings.ReplaceAll(exception, "shop/web", "shop/db"), "", time.Time{}, "deny"},
		"by the name of the static pod": {
			"m.toml", strings.ReplaceAll(exception, "shop/web", "shop/web-node-1"), "", time.Time{}, excepted,
		},
		"of a member": {"g.toml", exception, "", time.Time{}, "abstain (the pod matches no member)"},
		"of a group":  {"g.toml", "", exception, time.Time{}, excepted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, s := policytest.NewTree(t), policytest.NewScripts()
			d.Policy("m", "deny", `mode = "member"`, test.keys)
			d.Group("g", "m", test.groupKeys)
			drafts, err := Drafts(t.Context(), policiesIn(d, s), test.document)
			policytest.Must(t, err)
			defer drafts[0].Close()
			policytest.Must(t, drafts[0].Err)
			said, err := drafts[0].Ask(t.Context(), &Question{Pods: []Manifest{{Path: "a.yaml", Text: []byte(policytest.ManifestText)}}, Time: test.at})
			policytest.Must(t, err)
			got := said.Answer
			if said.NotAsked != "" {
				got += " (" + said.NotAsked + ")"
			}
			if got != test.want {
				t.Errorf("it says %s, want %s", got, test.want)
			}
		})
	}
}

func TestDraft_aChangeIsOfOnePod(t *testing.T) {
	t.Parallel()
	d, s := policytest.NewTree(t), policytest.NewScripts()
	d.Policy("p", "allow")
	drafts, err := Drafts(t.Context(), policiesIn(d, s), "p.toml")
	policytest.Must(t, err)
	defer drafts[0].Close()
	ask := func(old string) error {
		_, err := drafts[0].Ask(t.Context(), &Question{
			Pods: []Manifest{{Path: "new.yaml", Text: []byte(policytest.ManifestText)}}, Old: &Manifest{Path: "old.yaml", Text: []byte(old)},
		})
		return err
	}
	policytest.Must(t, ask(strings.ReplaceAll(policytest.ManifestText, "image: img", "image: old")))
	want := "new.yaml is the pod shop/web-node-1 and old.yaml is shop/db-node-1: a change is of one pod"
	if err := ask(strings.ReplaceAll(policytest.ManifestText, "name: web", "name: db")); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

package state

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/state/decisions"
)

func saidOf(instance string, minute int, answer api.Answer) LastOpinions {
	return LastOpinions{
		Instance: instance, Tenant: "a", At: time.Date(2026, 1, 2, 3, minute, 0, 0, time.UTC),
		Opinions: []decisions.LastOpinion{{Policy: "p", Tenant: "a", Answer: answer, Reason: "R", Message: "m", RetryAfter: time.Second, Changed: true}},
	}
}

func TestWhatPoliciesSaidLastComesBackTheOldestFirst(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	d, _ := open(t, path)
	check(t, d.Opinions().Apply(nil, nil))
	check(t, d.Opinions().Apply([]LastOpinions{saidOf("c", 3, api.Deny), saidOf("../b", 2, api.Hold), saidOf("a", 1, api.Allow)}, nil))
	check(t, d.Opinions().Apply([]LastOpinions{saidOf("a", 5, api.Abstain)}, []string{"c", "none"}))
	entries, err := os.ReadDir(filepath.Join(path, opinionsDir))
	check(t, err)
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", e.Name(), info.Mode(), err)
		}
	}
	d.Close()
	d, _ = open(t, path)
	got, errs := d.Opinions().Load()
	if diff := cmp.Diff([]LastOpinions{saidOf("../b", 2, api.Hold), saidOf("a", 5, api.Abstain)}, got); diff != "" || len(errs) > 0 {
		t.Errorf("%v (-want +got):\n%s", errs, diff)
	}
}

func TestWhatIsNoOpinionIsNotKept(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	d, _ := open(t, path)
	for name, broken := range map[string]LastOpinions{
		"no instance": {Opinions: saidOf("a", 1, api.Allow).Opinions},
		"no opinions": {Instance: "a"},
		"no answer":   saidOf("a", 1, "perhaps"),
	} {
		if err := d.Opinions().Apply([]LastOpinions{broken}, nil); err == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
	check(t, d.Opinions().Apply([]LastOpinions{saidOf("a", 1, api.Allow), saidOf("b", 2, api.Deny)}, nil))
	file := filepath.Join(path, (&Dir{}).Opinions().file("a"))
	text, err := os.ReadFile(file)
	check(t, err)
	check(t, os.WriteFile(file, []byte(strings.Replace(string(text), `"allow"`, `"deny"`, 1)), 0o600))
	if got, errs := d.Opinions().Load(); len(got) != 1 || got[0].Instance != "b" || len(errs) > 0 {
		t.Errorf("read %+v, %v of a record that was changed", got, errs)
	}
}

package state

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWhatIsKnownOfPolicySetsIsThatOfTheirOwner(t *testing.T) {
	t.Parallel()
	dir := statePath(t)
	d, _ := open(t, dir)
	operator := PolicySet{
		Good: []string{"b", "a"}, Generation: 2, Revision: 7,
		Refused: []RefusedSet{{"c", "it is broken", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}},
	}
	tenant := PolicySet{Tenant: "a", Generation: 1}
	for _, p := range []*PolicySet{&operator, &tenant} {
		if err := d.PolicySets().Store(p); err != nil {
			t.Fatal(err)
		}
	}
	d.Close()
	d, _ = open(t, dir)
	for _, want := range []PolicySet{operator, tenant, {Tenant: "b"}} {
		got, err := d.PolicySets().Load(want.Tenant)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("tenant %q: %v (-want +got):\n%s", want.Tenant, err, diff)
		}
	}
}

func TestACorruptRecordOfPolicySetsCountsAsNone(t *testing.T) {
	t.Parallel()
	dir := statePath(t)
	d, _ := open(t, dir)
	p := PolicySet{Tenant: "a", Generation: 3}
	if err := d.PolicySets().Store(&p); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, policySetFile("a"))
	if err := os.WriteFile(path, []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := d.PolicySets().Load("a"); err != nil || got.Generation != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if err := d.PolicySets().Store(&p); err != nil {
		t.Errorf("it is not made anew: %v", err)
	}
}

func TestTheContentOfSetsIsForTheirOwnerOnly(t *testing.T) {
	t.Parallel()
	dir := statePath(t)
	d, _ := open(t, dir)
	seen := map[string]bool{}
	for _, tenant := range []string{"", "operator", "a"} {
		path, err := d.PolicySets().Content(tenant)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o700 || seen[path] {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
		seen[path] = true
	}
}

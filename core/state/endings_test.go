package state

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAnEndingIsKeptUntilItIsDeleted(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "state")
	began := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	want := Ending{UID: "../1", Seen: began.Add(-time.Hour), Grace: time.Minute, Began: began, Since: &BootTime{Boot: "b", Since: time.Hour}}
	d, _ := open(t, root)
	if err := d.Endings().Put(&want); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d, _ = open(t, root)
	got, errs := d.Endings().Load()
	if diff := cmp.Diff([]Ending{want}, got); diff != "" || errs != nil {
		t.Errorf("errors %v, (-want +got):\n%s", errs, diff)
	}
	for range 2 {
		if err := d.Endings().Delete("../1"); err != nil {
			t.Errorf("Delete = %v", err)
		}
	}
	if got, errs := d.Endings().Load(); got != nil || errs != nil {
		t.Errorf("left %v, errors %v", got, errs)
	}
}

func TestAnEndingThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]Ending{
		"of no pod":         {Grace: time.Second},
		"of negative grace": {UID: "1", Grace: -1},
	} {
		d, _ := open(t, filepath.Join(t.TempDir(), "state"))
		if err := d.Endings().Put(&e); err == nil {
			t.Errorf("%s: stored", name)
		}
	}
}

func TestACorruptEndingStopsNobody(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "state")
	d, _ := open(t, root)
	if err := os.WriteFile(filepath.Join(d.path, d.Endings().file("1")), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, errs := d.Endings().Load(); got != nil || errs != nil {
		t.Errorf("%v, errors %v", got, errs)
	}
}

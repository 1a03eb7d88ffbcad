package mutants

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSeed(t *testing.T) {
	t.Parallel()
	on := Register("ear", map[string]string{"late": "what is due", "deaf": "what is told"})
	other := Register("eye", map[string]string{"blind": "what is shown"})
	if diff := cmp.Diff([]string{"deaf", "late"}, Faults("ear")); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
	for _, step := range []struct {
		name, part, fault string
		ok                bool
		want, wantOther   string
	}{
		{"one of two", "ear", "late", true, "what is due", ""},
		{"instead of it", "ear", "deaf", true, "what is told", ""},
		{"another part beside it", "eye", "blind", true, "what is told", "what is shown"},
		{"unknown fault", "ear", "dumb", false, "what is told", "what is shown"},
		{"fault of another part", "ear", "blind", false, "what is told", "what is shown"},
		{"unknown part", "nose", "late", false, "what is told", "what is shown"},
		{"empty name", "ear", "", false, "what is told", "what is shown"},
	} {
		err := Seed(step.part, step.fault)
		if (err == nil) != step.ok || on.Fault() != step.want || other.Fault() != step.wantOther {
			t.Errorf("%s: %v, on are %q and %q; want %q and %q", step.name, err, on.Fault(), other.Fault(), step.want, step.wantOther)
		}
	}
	Clear("ear")
	Clear("nose")
	if on.Fault() != "" || other.Fault() == "" {
		t.Errorf("after Clear on are %q and %q", on.Fault(), other.Fault())
	}
}

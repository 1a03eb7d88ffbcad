//go:build seededfaults

package seededfault

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	faults = Faults[string]{"late": "what is due", "deaf": "what is told"}
	others = Faults[string]{"blind": "what is shown"}
)

func TestSwitch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		set  []string
		want string
		ok   bool
	}{
		{"at first nothing is wrong", nil, "", true},
		{"a fault is on by its name", []string{"late"}, "what is due", true},
		{"the second table counts too", []string{"blind"}, "what is shown", true},
		{"there is one at a time", []string{"late", "blind", "deaf"}, "what is told", true},
		{"the empty name switches it off", []string{"late", ""}, "", true},
		{"an unknown name is refused and changes nothing", []string{"late", "dumb"}, "what is due", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := New(faults, others)
			var err error
			for _, name := range tt.set {
				err = s.Set(name)
			}
			if got := s.Fault(); got != tt.want || (err == nil) != tt.ok {
				t.Errorf("on is %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

func TestNamesAreSorted(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]string{"deaf", "late"}, faults.Names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

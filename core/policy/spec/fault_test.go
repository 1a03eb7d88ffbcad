package spec

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/strict"
)

func TestEachFaultOfAnErrorSaysWhereItIs(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	keys := strict.Errors{{File: "p.toml", Line: 3, Key: "mode", Message: "wrong"}, {File: "p.toml", Message: "torn"}}
	for name, test := range map[string]struct {
		err  error
		want []Fault
	}{
		"none":           {nil, nil},
		"of keys":        {keys, []Fault{{"p.toml", 3, "mode", "wrong"}, {File: "p.toml", Message: "torn"}}},
		"of a file":      {InFile("p.wasm", gone), []Fault{{File: "p.wasm", Message: "gone"}}},
		"of no file":     {gone, []Fault{{Message: "gone"}}},
		"in other words": {fmt.Errorf("not read: %w", keys), []Fault{{Message: "not read: " + keys.Error()}}},
		"of several": {errors.Join(errors.Join(keys, nil), InFile("p.wasm", gone)), []Fault{
			{"p.toml", 3, "mode", "wrong"}, {File: "p.toml", Message: "torn"}, {File: "p.wasm", Message: "gone"},
		}},
	} {
		if diff := cmp.Diff(test.want, Faults(test.err)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if err := InFile("p.wasm", gone); err.Error() != "p.wasm: gone" || !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
}

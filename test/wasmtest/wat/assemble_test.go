package wat

import (
	"strings"
	"testing"
)

func TestAssemble(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text     string
		features []string
		wrong    string
	}{
		"a module":               {`(module)`, nil, ""},
		"a feature":              {`(module (func (throw 0)) (tag))`, []string{"exceptions"}, ""},
		"without the feature":    {`(module (func (throw 0)) (tag))`, nil, "throw"},
		"types that do not fit":  {`(module (func (result i32)))`, nil, "type mismatch"},
		"nobody looks at types":  {`(module (func (result i32)))`, []string{"no-check"}, ""},
		"a mistake":              {`(module`, nil, "wat2wasm: exit status 1"},
		"a feature there is not": {`(module)`, []string{"luck"}, "luck"},
	} {
		binary, err := Assemble(t.Context(), test.text, test.features...)
		if test.wrong == "" && (err != nil || !strings.HasPrefix(string(binary), "\x00asm")) {
			t.Errorf("%s: %q, %v", name, binary, err)
		}
		if test.wrong != "" && (err == nil || !strings.Contains(err.Error(), test.wrong)) {
			t.Errorf("%s: error %v, want %q", name, err, test.wrong)
		}
	}
}

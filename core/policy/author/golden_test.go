package author

import (
	"strings"
	"testing"
)

func TestWhatIsNoGoldenFileIsAnErrorWithItsLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{\n\"module\": 1}":  "g.json:2: no golden file: ",
		"{\n\n\"module\" 1}": "g.json:3: no golden file: ",
		"":                   "g.json: no golden file: EOF",
	} {
		if _, err := parseGolden("g.json", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// FuzzGolden checks that every golden result that is accepted equals itself.
func FuzzGolden(f *testing.F) {
	f.Add([]byte(`{"module": "ab", "verdict": {"answer": "deny", "patch": [ {"op": "test"} ], "reads": [], "fuel": 12}}`))
	f.Add([]byte(`{"verdict": {"patch": null, "annotations": {}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		g, err := parseGolden("g.json", text)
		if err != nil {
			return
		}
		if fault, err := g.differs("g.json", g); err != nil || fault != "" {
			t.Errorf("%q: %s, %v", text, fault, err)
		}
	})
}

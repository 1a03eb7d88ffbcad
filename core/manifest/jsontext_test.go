package manifest

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	sigsyaml "sigs.k8s.io/yaml"
)

func TestJSONIsReadAsJSON(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ rule, text string }{
		{"a slash may be escaped", `{"a": "b\/c"}`},
		{"characters beyond the basic plane may be two escapes", `{"a": "\ud83d\ude00 \uD83D\uDE00x"}`},
		{"half of such a character is the replacement character", `{"a": "\ud83d", "b": "\ude00\ud83d", "c": "\ud83d\u0041", "d": "\ud83dx"}`},
		{"escapes that YAML has too", `{"a": "\"\\\b\f\n\r\t\u0000\u00e9\u20ac"}`},
		{"a backslash before a quote ends nothing", `{"a\\": "\\", "b\"": ": \""}`},
		{"line ends of YAML 1.1 are characters", "{\"a\": \"b\u0085c\u2028d\u2029e\"}"},
		{"characters that YAML does not take", "{\"a\": \"\x7f\u0080\ufeff\ufffe\uffff\"}"},
		{"a colon may be on another line than its key", "{\"a\"\n\t:\n 1, \"b\" \r\n : [\"c\", \"d\"\n]}"},
		{"keys are strings like others", `{"\u0061\/\ud83d\ude00": "<<", "<<": ": #"}`},
		{"tabs may stand between values, and before all", "\t{\t\"a\":\t\"b\\tc\"\n\t}\t"},
		{"spaces stay", `{"a": "  b  ", "": ""}`},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			t.Parallel()
			sameAsJSON(t, tc.text)
		})
	}
}

// sameAsJSON checks that rewriting a JSON text keeps its values and the number of lines.
func sameAsJSON(t *testing.T, text string) {
	t.Helper()
	var want, got any
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		t.Fatal(err)
	}
	rewritten := rewrite(t, text)
	if strings.Count(rewritten, "\n") != strings.Count(text, "\n") {
		t.Errorf("other lines: %q", rewritten)
	}
	if err := sigsyaml.Unmarshal([]byte(rewritten), &got); err != nil {
		t.Fatalf("%v in %q", err, rewritten)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values (-JSON +YAML):\n%s", diff)
	}
}

func rewrite(t *testing.T, text string) string {
	t.Helper()
	out, f := yamlOfJSON(chunk{text: []byte(text)})
	if f != nil {
		t.Fatal(f.err)
	}
	return string(out)
}

func TestANumberOfJSONIsNeverAWord(t *testing.T) {
	t.Parallel()
	docs := Decode([]byte("{\"apiVersion\": \"v1\", \"kind\": \"Pod\",\n\"metadata\": {\"name\": -1e400}}"), testFrom)
	if got, want := docs[0].Err.Error(), "/m/web.yaml:2: the number -1e400 is too great"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	sameAsJSON(t, `{"a": [0, -0, 1.5, 1E5, 1e-400, 12345678901234567890123], "b": 7}`)
}

func TestWhatIsNoJSONStaysAsItIs(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", " ", "a: b", `{a: "\/"}`, `{"a": "\/"} # text`, `["\/"]`, "{\"a\": \"\xff\"}", `{"a": "\/"`} {
		if got := rewrite(t, text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func FuzzJSON(f *testing.F) {
	for _, text := range []string{`{"a": "\/\ud83d\ude00\ud83d"}`, "{\"a\"\n: \"\u2028\x7f\"}", `{"\"": {"b": ["\\", 1, null, true, "\u0041"]}}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var all map[string]string
		// YAML reads numbers differently and limits the length of keys, so such texts are
		// skipped.
		if err := json.Unmarshal([]byte(text), &all); err != nil || all == nil || len(text) > 1000 {
			return
		}
		if !utf8.ValidString(text) {
			return
		}
		var words map[string]string
		if err := sigsyaml.Unmarshal([]byte(rewrite(t, text)), &words); err != nil {
			if strings.Contains(err.Error(), "already set in map") {
				return
			}
			t.Fatalf("%v in %q", err, text)
		}
		if diff := cmp.Diff(all, words); diff != "" {
			t.Errorf("values (-JSON +YAML):\n%s", diff)
		}
	})
}

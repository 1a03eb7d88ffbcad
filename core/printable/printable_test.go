package printable_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/wardlet/wardlet/core/printable"
)

func TestLine_whatHasNoShapeIsEscaped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"web: größer than 1 MiB, 😀 é 漢字 \ufffd", "web: größer than 1 MiB, 😀 é 漢字 \ufffd"},
		{`C:\x1b stays`, `C:\x1b stays`},
		{"\x1b[31mred\x07", `\x1b[31mred\a`},
		{"a\nforged   row\r\t\x00\x7f", `a\nforged   row\r\t\x00\x7f`},
		{"C1 \u009b31m \u0085", `C1 \u009b31m \u0085`},
		{"byte \x9b and \xff", `byte \x9b and \xff`},
		{"half a character \xe2\x80", `half a character \xe2\x80`},
		{"bidi \u202a\u202e\u2066\u2069\u200e\u200f\u061c", `bidi \u202a\u202e\u2066\u2069\u200e\u200f\u061c`},
		{"ends \u2028\u2029", `ends \u2028\u2029`},
		{"blanks \u00a0\u2003\u3000\u2800\u3164\u115f", `blanks \u00a0\u2003\u3000\u2800\u3164\u115f`},
		{"zero \u200b\u200d\ufeff\u00ad", `zero \u200b\u200d\ufeff\u00ad`},
		{"variants web\ufe0f \U000e0100 \u180b", `variants web\ufe0f \U000e0100 \u180b`},
		{"tags \U000e0041 private \ue000 \U00100000", `tags \U000e0041 private \ue000 \U00100000`},
	} {
		got := printable.Line(c.in)
		if got != c.want {
			t.Errorf("Line(%q) = %s, want %s", c.in, got, c.want)
		}
		if again := printable.Line(got); again != got {
			t.Errorf("Line twice of %q = %s, want %s", c.in, again, got)
		}
	}
}

func TestLines_lineEndsAndTabsStay(t *testing.T) {
	t.Parallel()
	if got, want := printable.Lines("a\n\tb\x1b\r\n"), "a\n\tb\\x1b\\r\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestJoined_linesAreOne(t *testing.T) {
	t.Parallel()
	if got, want := printable.Joined(" two faults:\nfirst\x1b\nsecond\n"), `two faults: first\x1b; second`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCell_cannotLookLikeTwo(t *testing.T) {
	t.Parallel()
	if got, want := printable.Cell("a\nforged   row"), `a\nforged \x20\x20row`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := printable.Cell("an image is not allowed"), "an image is not allowed"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCut_charactersStayWhole(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		size int
		want string
	}{{"größe", 5, "größe"[:4] + "…"}, {"größe", 7, "größe"}, {"ab", 1, "a…"}, {"\x80\x80", 1, "…"}} {
		if got := printable.Cut(c.in, c.size); got != c.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.in, c.size, got, c.want)
		}
	}
}

// hostile are texts that a tenant may put into a field.
var hostile = []string{
	"\x9b", "\u009b", "\u009b31m", "\x1b]0;title\x07", "a\nb", "a: \u202eb", "\u2028", "\u2029x\n", `\uFFFF`, "\uffff", `\uFFFF` + "\ue000\ue001\ue002\ue003",
	"\ue000\ue000\ue000\ue000", "\U000e0041", "😀", "\ufeff", "\x7f", "\x00", "\u0085", "- \u200f", "# \u061c", `"\u202e'`, `\\u2028`, "\\\u2028",
	"yes", "null", "1e3", "", " ", "\t", "\r\n", strings.Repeat("long words ", 30) + "\u202e end", "<&>",
}

func TestWriteJSON_sameValuesWithoutControls(t *testing.T) {
	t.Parallel()
	for _, s := range hostile {
		checkRoundTrip(t, s)
	}
}

func TestWriteYAML_surrogatesOfRawMessages(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := printable.WriteYAML(&out, map[string]any{"patch": json.RawMessage(`[{"value":"\ud83d\ude00 \u202e\/","n":1.0}]`)}); err != nil {
		t.Fatal(err)
	}
	var back map[string]any
	if err := yaml.Unmarshal(out.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"patch": []any{map[string]any{"value": "😀 \u202e/", "n": 1.0}}}
	if !reflect.DeepEqual(back, want) {
		t.Errorf("got %#v, want %#v, of:\n%s", back, want, out.String())
	}
}

// TestWriteYAML_ordinaryObject compares the text with that of the YAML library.
func TestWriteYAML_ordinaryObject(t *testing.T) {
	t.Parallel()
	v := map[string]any{"a": "größe", "b": []string{"x", "- y", "line\nend\n"}, "c": map[string]any{"n": 7, "f": 1.5, "t": true, "z": nil}}
	want, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := printable.WriteYAML(&got, v); err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

// checkRoundTrip prints an object with s as a value and as a key, and reads it again.
func checkRoundTrip(t *testing.T, s string) {
	t.Helper()
	in := map[string]any{"value": s, "list": []any{s, map[string]any{"k" + s: "v"}}}
	want := asJSONHas(t, in)
	for _, format := range []struct {
		name string
		to   func(*bytes.Buffer) error
		from func([]byte, any) error
	}{
		{"json", func(b *bytes.Buffer) error { return printable.WriteJSON(b, in) }, json.Unmarshal},
		{"yaml", func(b *bytes.Buffer) error { return printable.WriteYAML(b, in) }, func(data []byte, v any) error { return yaml.Unmarshal(data, v) }},
	} {
		var out bytes.Buffer
		if err := format.to(&out); err != nil {
			t.Errorf("%s of %q: %v", format.name, s, err)
			continue
		}
		checkShown(t, out.String())
		var back map[string]any
		if err := format.from(out.Bytes(), &back); err != nil {
			t.Errorf("%s of %q cannot be read: %v\n%s", format.name, s, err, out.String())
		} else if !reflect.DeepEqual(back, want) {
			t.Errorf("%s of %q: read %#v, want %#v, of:\n%s", format.name, s, back, want, out.String())
		}
	}
}

// asJSONHas returns a value as it is after encoding to JSON and decoding.
func asJSONHas(t *testing.T, v map[string]any) (back map[string]any) {
	t.Helper()
	data, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(data, &back)
	}
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// checkShown fails the test if s has characters other than visible ones and line ends.
func checkShown(t *testing.T, s string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Errorf("no UTF-8: %q", s)
	}
	for _, r := range s {
		if r != '\n' && (!unicode.IsPrint(r) || unicode.In(r, unicode.Bidi_Control, unicode.Cc, unicode.Zl, unicode.Zp)) {
			t.Errorf("%U is printed in %q", r, s)
		}
	}
}

func FuzzLine(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		line := printable.Line(s)
		checkShown(t, line)
		if strings.ContainsRune(line, '\n') || printable.Line(line) != line {
			t.Errorf("Line(%q) = %q", s, line)
		}
		if cell := printable.Cell(s); strings.Contains(cell, "  ") || printable.Cell(cell) != cell {
			t.Errorf("Cell(%q) = %q", s, cell)
		}
		checkRoundTrip(t, s)
	})
}

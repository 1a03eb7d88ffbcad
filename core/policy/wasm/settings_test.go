package wasm

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func sampleSettings() map[string]any {
	return map[string]any{
		"text": "x", "yes": true, "count": int64(-3), "ratio": 0.5, "plain": 7,
		"since":  time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		"list":   []any{"a", int64(1), []any{true}, map[string]any{"k": "v"}, map[string]any{"n": int64(2)}},
		"nested": map[string]any{"main": "r1", "a.b": "dotted", "deep": map[string]any{"on": true}},
		"tables": []map[string]any{{"name": "one"}},
		"texts":  map[string]any{"b": "2", "a": "1"}, "none": map[string]any{}, "empty": []any{},
	}
}

func TestSettingsByPath(t *testing.T) {
	t.Parallel()
	s, err := checkedSettings(sampleSettings())
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]any{
		"text": "x", "yes": true, "count": int64(-3), "ratio": 0.5, "plain": int64(7),
		"since":          "2026-01-02T03:04:05Z",
		"list":           []any{"a", int64(1), []any{true}, map[string]string{"k": "v"}, raw(`{"n":2}`)},
		"nested.main":    "r1",
		"nested['a.b']":  "dotted",
		"nested.deep.on": true,
		"nested":         raw(`{"a.b":"dotted","deep":{"on":true},"main":"r1"}`),
		"tables":         []any{map[string]string{"name": "one"}},
		"texts":          map[string]string{"b": "2", "a": "1"},
		"none":           map[string]string{},
		"empty":          []any{},
	} {
		value, ok := s.lookup(nil, path)
		if !ok {
			t.Errorf("%s is not there", path)
		} else if diff := cmp.Diff(want, parseValue(t, value)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	for _, path := range []string{"", "absent", "text.x", "nested.absent", "nested.", "list[0]", "list[*]", "a b", "nested.a.b"} {
		if value, ok := s.lookup(nil, path); ok {
			t.Errorf("%q gives %v", path, value)
		}
	}
}

func TestSettingsThatNoGuestCouldReadAreRefused(t *testing.T) {
	t.Parallel()
	_, err := checkedSettings(map[string]any{
		"a": math.NaN(), "b": map[string]any{"c": []any{"x", math.Inf(1)}}, "d": struct{}{}, "fine": "x",
	})
	want := `settings.a: NaN is not supported in this version: write a finite number
settings.b.c[1]: +Inf is not supported in this version: write a finite number
settings.d: a value of type struct {} is not supported in this version`
	if err == nil || err.Error() != want {
		t.Errorf("error %v\nwant %s", err, want)
	}
}

func TestEqualSettingsHaveOneDigest(t *testing.T) {
	t.Parallel()
	a, err := checkedSettings(sampleSettings())
	if err != nil {
		t.Fatal(err)
	}
	b, err := checkedSettings(sampleSettings())
	if err != nil {
		t.Fatal(err)
	}
	if a.digest() != b.digest() {
		t.Error("equal settings have two digests")
	}
	b["list"].([]any)[2].([]any)[0] = false
	if a.digest() == b.digest() {
		t.Error("other settings have the same digest")
	}
}

func TestTextIsMadeSafeToShow(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain ü 世":             "plain ü 世",
		"a\nb\tc\rd\x00\x1b[0m": `a\nb\tc\rd\u0000\u001b[0m`,
		"a\xffb":                "a\uFFFDb",
		"a\u202eb\u2028c\u200e": `a\u202eb\u2028c\u200e`,
		"\u0085":                `\u0085`,
	} {
		if got := printable(in); got != want {
			t.Errorf("printable(%q) = %q, want %q", in, got, want)
		}
	}
	if got := printable("a\nb\tc\r", '\n', '\t'); got != "a\nb\tc\\r" {
		t.Errorf("with newlines and tabs kept: %q", got)
	}
}

func TestTextIsCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	for limit, want := range []string{"", "a", "a", "aü", "aü", "aü", "aü世", "aü世"} {
		if got := cut("aü世", limit); got != want {
			t.Errorf("cut to %d: %q, want %q", limit, got, want)
		}
	}
	if got := cut(strings.Repeat("x", 10), 10); len(got) != 10 {
		t.Errorf("cut to its own length: %q", got)
	}
}
